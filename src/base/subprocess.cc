#include "base/subprocess.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

extern char** environ;  // NOLINT: POSIX names it so

namespace pragma {
namespace {

// Launch: everything the child needs between fork and exec, prepared before the fork. After fork in
// a multi-threaded program only async-signal-safe calls are allowed.
struct Launch {
  std::vector<char*> argv;
  std::vector<char*> envp;
  const char* cwd = nullptr;
  std::vector<std::pair<int, int>> fds;
  int error_pipe = -1;
  pid_t parent = -1;
};

[[noreturn]] void ReportAndExit(const Launch& launch) {
  const int code = errno;
  [[maybe_unused]] const ssize_t n = ::write(launch.error_pipe, &code, sizeof(code));
  ::_exit(127);
}

// Replaces `fd` by a copy numbered above every target, so that placing one descriptor never
// overwrites another.
bool MoveAbove(int& fd, int highest) {
  fd = ::fcntl(fd, F_DUPFD_CLOEXEC, highest + 1);
  return fd >= 0;
}

bool OpenNullEverywhere() {
  const int null = ::open("/dev/null", O_RDWR);
  return null >= 0 && ::dup2(null, 0) == 0 && ::dup2(null, 1) == 1 && ::dup2(null, 2) == 2;
}

// Gives the child's descriptors the requested numbers. All other descriptors that are open here,
// close-on-exec or not, are closed at exec.
bool PlaceDescriptors(Launch& launch) {
  int highest = 2;
  for (const auto& [from, to] : launch.fds) highest = std::max(highest, to);
  bool ok = MoveAbove(launch.error_pipe, highest);
  for (auto& [from, to] : launch.fds) ok = ok && MoveAbove(from, highest);
  ok = ok && OpenNullEverywhere();
  for (const auto& [from, to] : launch.fds) ok = ok && ::dup2(from, to) == to;
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const auto& [from, to] : launch.fds) ok = ok && (to <= 2 || ::fcntl(to, F_SETFD, 0) == 0);
  return ok;
}

[[noreturn]] void RunChild(Launch launch) {
  ::setpgid(0, 0);
  sigset_t none{};
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // SIGKILL, SIGSTOP and the C library's two internal signals refuse the change, which is harmless.
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);
  if (!PlaceDescriptors(launch)) ReportAndExit(launch);
  if (launch.cwd != nullptr && ::chdir(launch.cwd) != 0) ReportAndExit(launch);
  ::execvpe(launch.argv[0], launch.argv.data(), launch.envp.data());
  ReportAndExit(launch);
}

// Spawner: the permanent thread that forks. PR_SET_PDEATHSIG fires when the forking *thread* ends.
class Spawner final {
 public:
  Spawner() : thread_([this] { Loop(); }) {
    thread_.detach();
    // A child that ends before it has read its input must not end pragma. write() returns EPIPE
    // instead.
    ::signal(SIGPIPE, SIG_IGN);
  }

  pid_t Fork(Launch& launch, int& error) {
    const std::lock_guard<std::mutex> turn(callers_);
    std::unique_lock<std::mutex> lock(mutex_);
    launch_ = &launch;
    wake_.notify_all();
    done_.wait(lock, [this] { return launch_ == nullptr; });
    error = error_;
    return pid_;
  }

 private:
  [[noreturn]] void Loop() {
    sigset_t all{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return launch_ != nullptr; });
      pid_ = ::fork();
      if (pid_ == 0) RunChild(*launch_);
      error_ = errno;
      launch_ = nullptr;
      done_.notify_all();
    }
  }

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Launch* launch_ = nullptr;
  pid_t pid_ = -1;
  int error_ = 0;
  std::thread thread_;
};

// Returns the only spawner of this process. It is never destroyed, because children must not die
// when statics are torn down.
Spawner& TheSpawner() {
  static auto* spawner = new Spawner;
  return *spawner;
}

std::vector<std::string> Environment(const ProcessSpec& spec) {
  std::map<std::string, std::string> merged;
  if (spec.inherit_env) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text(*entry);
      const std::size_t equals = text.find('=');
      if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  for (const auto& [name, value] : spec.env) merged[name] = value;
  std::vector<std::string> result;
  result.reserve(merged.size());
  for (const auto& [name, value] : merged)
    result.push_back(std::string(name).append("=").append(value));
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int PollMillis(Seconds limit) {
  const double millis = std::clamp(limit.count() * 1e3, 0.0, 1e9);
  return static_cast<int>(millis) + (millis > 0 ? 1 : 0);
}

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return FailErrno("cannot create a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Result<Process> Process::Spawn(const ProcessSpec& spec) {
  if (spec.argv.empty()) return Fail("no program given to start");
  std::vector<std::string> argv = spec.argv;
  std::vector<std::string> env = Environment(spec);
  Pipe errors = TRY(MakePipe());
  Launch launch{.argv = Pointers(argv),
                .envp = Pointers(env),
                .cwd = spec.cwd.empty() ? nullptr : spec.cwd.c_str(),
                .fds = spec.fds,
                .error_pipe = errors.write.get(),
                .parent = ::getpid()};
  int error = 0;
  const pid_t pid = TheSpawner().Fork(launch, error);
  errno = error;
  if (pid < 0) return FailErrno("cannot start " + argv.front());
  Process process(pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  errors.write.Reset();
  int child_error = 0;
  ssize_t got = 0;
  do {
    got = ::read(errors.read.get(), &child_error, sizeof(child_error));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(child_error)) {
    errno = child_error;
    return FailErrno("cannot start " + argv.front());
  }
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      status_(std::exchange(other.status_, std::nullopt)) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    Destroy();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    status_ = std::exchange(other.status_, std::nullopt);
  }
  return *this;
}

Process::~Process() { Destroy(); }

void Process::Destroy() noexcept {
  if (pid_ <= 0 || status_) return;
  Kill();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void Process::Signal(int signal) const {
  if (pid_ > 0 && !status_) ::kill(pid_, signal);
}

void Process::Kill() const {
  if (pid_ <= 0 || status_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

std::optional<ExitStatus> Process::WaitFor(Seconds limit) {
  if (status_) return status_;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    int raw = 0;
    ExitStatus status;
    const pid_t reaped = ::wait4(pid_, &raw, WNOHANG, &status.usage);
    if (reaped == pid_) {
      status.signalled = WIFSIGNALED(raw);
      status.code = status.signalled ? WTERMSIG(raw) : WEXITSTATUS(raw);
      status_ = status;
      return status_;
    }
    const Seconds left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0) return std::nullopt;
    pollfd waiter{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&waiter, 1, PollMillis(left));
  }
}

bool Process::alive() { return !WaitFor(Seconds{0}).has_value(); }

namespace {

struct Capture {
  Pipe pipe;
  std::string* text = nullptr;
};

// Reads what is available. Returns false at end of file. Bytes past the limit are read and dropped,
// so that the child never blocks on a full pipe.
bool Drain(Capture& capture, std::size_t max_bytes, bool& truncated) {
  std::array<char, 65536> buffer{};
  const ssize_t n = ::read(capture.pipe.read.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (n <= 0) return false;
  const auto got = static_cast<std::size_t>(n);
  const std::size_t room = max_bytes - std::min(max_bytes, capture.text->size());
  capture.text->append(buffer.data(), std::min(room, got));
  truncated = truncated || got > room;
  return true;
}

// Input: the text that the child has not read yet, and the pipe it reads from.
struct Input {
  UniqueFd sink;
  std::string_view rest;
};

// Writes what fits into the pipe. Closes the pipe once all is written or the reader has closed it.
void Feed(Input& input) {
  const ssize_t n = ::write(input.sink.get(), input.rest.data(), input.rest.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n > 0) input.rest.remove_prefix(static_cast<std::size_t>(n));
  if (n <= 0 || input.rest.empty()) input.sink.Reset();
}

// Does one wait and one pass of reading and writing. Returns false when the deadline has passed.
bool PumpOnce(std::array<Capture, 2>& captures, Input& input, const RunLimits& limits,
              TimePoint deadline, RunResult& result) {
  const Seconds left = deadline - std::chrono::steady_clock::now();
  if (left.count() <= 0) return false;
  std::array<pollfd, 3> waiters{{{captures[0].pipe.read.get(), POLLIN, 0},
                                 {captures[1].pipe.read.get(), POLLIN, 0},
                                 {input.sink.get(), POLLOUT, 0}}};
  if (::poll(waiters.data(), waiters.size(), PollMillis(left)) < 0) return true;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    if (waiters.at(i).revents == 0) continue;
    if (!Drain(captures.at(i), limits.max_output_bytes, result.truncated)) {
      captures.at(i).pipe.read.Reset();
    }
  }
  if (waiters[2].revents != 0) Feed(input);
  return true;
}

// Transfers stdin, stdout and stderr until both outputs are closed or the deadline passes.
void Pump(std::array<Capture, 2>& captures, Input input, const RunLimits& limits,
          TimePoint deadline, RunResult& result) {
  if (input.rest.empty()) input.sink.Reset();
  while (captures[0].pipe.read.valid() || captures[1].pipe.read.valid()) {
    if (!PumpOnce(captures, input, limits, deadline, result)) {
      result.timed_out = true;
      return;
    }
  }
}

}  // namespace

Result<RunResult> RunProcess(const ProcessSpec& spec, const RunLimits& limits) {
  const auto start = std::chrono::steady_clock::now();
  RunResult result;
  std::array<Capture, 2> captures{Capture{TRY(MakePipe()), &result.out},
                                  Capture{TRY(MakePipe()), &result.err}};
  Pipe input = TRY(MakePipe());
  ::fcntl(input.write.get(), F_SETFL, O_NONBLOCK);
  ProcessSpec full = spec;
  full.fds.emplace_back(input.read.get(), 0);
  full.fds.emplace_back(captures[0].pipe.write.get(), 1);
  full.fds.emplace_back(captures[1].pipe.write.get(), 2);
  Process process = TRY(Process::Spawn(full));
  input.read.Reset();
  for (Capture& capture : captures) capture.pipe.write.Reset();
  const TimePoint deadline =
      start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(limits.wall);
  const std::string text = spec.stdin_text.value_or("");
  Pump(captures, {std::move(input.write), text}, limits, deadline, result);
  std::optional<ExitStatus> status = process.WaitFor(deadline - std::chrono::steady_clock::now());
  if (!status) {
    result.timed_out = true;
    process.Kill();
    status = process.WaitFor(Seconds{10});
  }
  if (!status) return Fail("cannot end " + spec.argv.front() + " (it ignores SIGKILL)");
  result.status = *status;
  result.wall = std::chrono::steady_clock::now() - start;
  return result;
}

}  // namespace pragma
