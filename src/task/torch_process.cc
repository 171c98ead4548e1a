#include "task/torch_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "core/json_reader.h"
#include "sandbox/jail.h"
#include "task/torch_channel.h"

namespace pragma {
namespace {

constexpr int kControlFd = 3;
constexpr std::size_t kLogTailBytes = 4096;
constexpr std::size_t kLogTailLines = 6;
constexpr Seconds kDeathLimit{5};

Result<UniqueFd> MakeLog() {
  UniqueFd log(::memfd_create("pragma-torch-log", MFD_CLOEXEC));
  if (!log.valid()) return FailErrno("cannot create a log in memory");
  if (::fcntl(log.get(), F_SETFL, O_APPEND) != 0) return FailErrno("cannot append to a log");
  return log;
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

ErrorKind KindOf(const std::string& name) {
  return name == "task" ? ErrorKind::kTask : ErrorKind::kInternal;
}

}  // namespace

Result<TorchProcess> TorchProcess::Start(const Jail& jail, JailSpec spec, TimePoint deadline) {
  UniqueFd theirs;
  TorchChannel channel = TRY(TorchChannel::Create(theirs));
  UniqueFd log = TRY(MakeLog());
  spec.fds = {{theirs.get(), kControlFd}, {log.get(), 1}, {log.get(), 2}};
  TorchProcess process(std::move(channel), TRY(jail.Start(spec)), std::move(log));
  theirs.Reset();
  Result<JsonReader> hello =
      process.Ask({.json = {}, .fds = {}, .what = "starting PyTorch", .deadline = deadline});
  if (!hello) {
    if (hello.error().kind == ErrorKind::kInterrupted) return std::unexpected(hello.error());
    return Fail(ErrorKind::kUnavailable,
                "PyTorch does not start with " + spec.argv.front() + ": " + hello.error().message);
  }
  hello->Get("torch", process.torch_version_);
  hello->Get("triton", process.triton_version_);
  return process;
}

Result<JsonReader> TorchProcess::Ask(const Request& request) {
  if (!dead_.empty()) return Fail("the PyTorch server has ended (" + dead_ + "); start it again");
  // When sending fails, the reply never arrives either, and Receive reports why.
  if (!request.json.empty()) {
    if (!channel_.Send(request.json, request.fds, request.deadline)) {
      Log(LogLevel::kDebug, "a request to the PyTorch server could not be sent");
    }
  }
  const TimePoint asked = std::chrono::steady_clock::now();
  const TorchChannel::Received received = channel_.Receive(request.deadline);
  Log(LogLevel::kDebug, fmt::format("PyTorch server at {:.3f} s: {}, {:.1f} ms",
                                    Seconds(asked.time_since_epoch()).count(), request.what,
                                    Since(asked).count() * 1e3));
  if (received.event == TorchChannel::Event::kLine) return Read(received.line, request.what);
  return std::unexpected(Stopped(received.event, request.what));
}

void TorchProcess::ShowPath(std::string inside, std::string outside) {
  inside_ = std::move(inside);
  outside_ = std::move(outside);
}

Result<JsonReader> TorchProcess::Read(const std::string& line, const std::string& what) {
  Result<JsonReader> reply = JsonReader::Parse(line, "reply of pragma_torch");
  if (!reply) {
    End();
    dead_ = "it sent something unreadable";
    return Fail("the PyTorch server answers nonsense when " + what + ": " + reply.error().message);
  }
  const JsonReader error = (*reply)["error"];
  if (error.null()) return reply;
  std::string kind;
  std::string message;
  std::string detail;
  error.Get("kind", kind);
  error.Get("message", message);
  error.Get("detail", detail);
  message = Outside(message);
  if (KindOf(kind) == ErrorKind::kTask && !detail.empty()) message += "\n" + Outside(detail);
  if (KindOf(kind) != ErrorKind::kTask) {
    Log(LogLevel::kDebug, detail);
    message = "the PyTorch server fails when " + what + ": " + message;
  }
  return Fail(KindOf(kind), message);
}

void TorchProcess::End() {
  const Result<Outcome> ended = process_.Kill();
  if (!ended) Log(LogLevel::kWarning, ended.error().message);
}

Error TorchProcess::Stopped(TorchChannel::Event event, const std::string& what) {
  switch (event) {
    case TorchChannel::Event::kTimeout:
      End();
      dead_ = "it was stopped at its time limit";
      return {ErrorKind::kTask, what + " takes longer than its limit; it was stopped"};
    case TorchChannel::Event::kInterrupted:
      End();
      dead_ = "it was interrupted";
      return {ErrorKind::kInterrupted, "interrupted while " + what};
    case TorchChannel::Event::kTooLong:
      End();
      dead_ = "it sent too much";
      return {ErrorKind::kInternal, "the PyTorch server answers too much when " + what};
    case TorchChannel::Event::kLine:
    case TorchChannel::Event::kClosed: break;
  }
  return Died(what);
}

Error TorchProcess::Died(const std::string& what) {
  const Result<std::optional<Outcome>> outcome = process_.WaitFor(kDeathLimit);
  std::string how = "closed its connection";
  if (const std::optional<Outcome> known = outcome.value_or(std::nullopt)) how = known->Describe();
  End();
  dead_ = how;
  const std::string tail = LogTail();
  return {ErrorKind::kTask, what + ": the Python process " + how +
                                (tail.empty() ? "" : "; its last words:\n" + tail)};
}

std::string TorchProcess::Outside(std::string text) const {
  if (!inside_.empty() && inside_ != outside_) ReplaceAll(text, inside_, outside_);
  return text;
}

std::string TorchProcess::LogTail() const {
  struct stat info{};
  if (::fstat(log_.get(), &info) != 0) return {};
  const off_t from = std::max<off_t>(0, info.st_size - static_cast<off_t>(kLogTailBytes));
  std::array<char, kLogTailBytes> buffer{};
  const ssize_t n = ::pread(log_.get(), buffer.data(), buffer.size(), from);
  if (n <= 0) return {};
  std::vector<std::string> lines =
      SplitLines(Trim(std::string_view(buffer.data(), static_cast<std::size_t>(n))));
  if (lines.size() > kLogTailLines) lines.erase(lines.begin(), lines.end() - kLogTailLines);
  return Outside(ToValidUtf8(Join(lines, "\n")));
}

}  // namespace pragma
