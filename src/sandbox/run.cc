#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

// Capture: one captured output of the program.
struct Capture {
  UniqueFd read;
  UniqueFd write;
  std::string* text = nullptr;
};

Result<Capture> MakeCapture(std::string* text) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return FailErrno("cannot create a pipe");
  return Capture{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1]), .text = text};
}

// Reads what is available. Closes the pipe at end of file. Bytes past the limit are read and
// dropped, so that the program never blocks on a full pipe.
void Drain(Capture& capture, std::size_t max_bytes, bool& truncated) {
  std::array<char, 65536> buffer{};
  const ssize_t n = ::read(capture.read.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    capture.read.Reset();
    return;
  }
  const auto got = static_cast<std::size_t>(n);
  const std::size_t room = max_bytes - std::min(max_bytes, capture.text->size());
  capture.text->append(buffer.data(), std::min(room, got));
  truncated = truncated || got > room;
}

// Reads until both outputs are closed (true), or the deadline has passed or the user wants to stop
// (false).
bool Pump(std::array<Capture, 2>& captures, std::size_t max_bytes, TimePoint deadline,
          bool& truncated) {
  while (captures[0].read.valid() || captures[1].read.valid()) {
    const Seconds left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0 || Interrupted()) return false;
    std::array<pollfd, 3> waiters{{{captures[0].read.get(), POLLIN, 0},
                                   {captures[1].read.get(), POLLIN, 0},
                                   {InterruptFd(), POLLIN, 0}}};
    const int millis = static_cast<int>(std::min(left.count() * 1e3, 1e9)) + 1;
    if (::poll(waiters.data(), waiters.size(), millis) < 0) continue;
    for (std::size_t i = 0; i < captures.size(); ++i) {
      if (waiters.at(i).revents != 0) Drain(captures.at(i), max_bytes, truncated);
    }
  }
  return true;
}

}  // namespace

Result<Jail::RunOutcome> Jail::Run(const JailSpec& spec, const RunLimits& limits) const {
  const TimePoint start = std::chrono::steady_clock::now();
  const TimePoint deadline = After(limits.wall);
  RunOutcome result;
  std::array<Capture, 2> captures{TRY(MakeCapture(&result.out)), TRY(MakeCapture(&result.err))};
  JailSpec full = spec;
  full.fds.emplace_back(captures[0].write.get(), 1);
  full.fds.emplace_back(captures[1].write.get(), 2);
  JailedProcess process = TRY(Start(full));
  for (Capture& capture : captures) capture.write.Reset();
  const bool closed = Pump(captures, limits.max_output_bytes, deadline, result.truncated);
  if (!closed && Interrupted())
    return Fail(ErrorKind::kInterrupted, "interrupted while " + spec.argv.front() + " ran");
  const auto ended = TRY(process.WaitFor(deadline - std::chrono::steady_clock::now()));
  result.timed_out = !ended.has_value();
  result.outcome = TRY(process.Kill());
  if (result.timed_out) {  // reads the last output; every writer is dead, so this ends
    static_cast<void>(Pump(captures, limits.max_output_bytes, After(Seconds{1}), result.truncated));
  }
  result.wall = std::chrono::steady_clock::now() - start;
  return result;
}

}  // namespace pragma
