// The model that runs any program which reads a prompt and prints a reply.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "llm/models.h"

namespace pragma {
namespace {

constexpr std::size_t kErrorBytes = 600;  // bytes of stderr that are shown when the command fails
constexpr Seconds kLook{0.1};             // how often Ctrl-C and the size of the reply are checked

std::size_t SizeOf(const UniqueFd& fd) {
  struct stat info{};
  return ::fstat(fd.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

Result<UniqueFd> OpenFile(const std::filesystem::path& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!fd.valid()) return FailErrno("cannot open " + path.string());
  return fd;
}

// Streams: the three standard streams of the command as files. Files need no pumping, and a process
// that the command leaves behind cannot keep pragma waiting.
struct Streams {
  TempDir folder;
  UniqueFd in;
  UniqueFd out;
  UniqueFd err;
};

Result<Streams> MakeStreams(const std::string& input) {
  TempDir folder = TRY(TempDir::Create());
  TRY(WriteFileAtomic(folder.path() / "in", input));
  UniqueFd in = TRY(OpenFile(folder.path() / "in", O_RDONLY));
  UniqueFd out = TRY(OpenFile(folder.path() / "out", O_RDWR | O_CREAT));
  UniqueFd err = TRY(OpenFile(folder.path() / "err", O_RDWR | O_CREAT));
  return Streams{std::move(folder), std::move(in), std::move(out), std::move(err)};
}

class CommandModel final : public Model {
 public:
  CommandModel(std::string command, ModelOptions options, Clock& clock)
      : command_(std::move(command)), options_(std::move(options)), clock_(clock) {}

  Result<Completion> Complete(const std::vector<Message>& messages, const Sampling& sampling,
                              const CallKey& key) override;
  [[nodiscard]] std::string name() const override { return "command"; }

 private:
  Result<ExitStatus> Wait(Process& process, const Streams& streams) const;
  [[nodiscard]] std::unexpected<Error> Failed(const std::string& what,
                                              const Streams& streams) const;

  std::string command_;
  ModelOptions options_;
  Clock& clock_;
};

Result<Completion> CommandModel::Complete(const std::vector<Message>& messages,
                                          const Sampling& /*sampling*/, const CallKey& key) {
  const TimePoint start = clock_.Now();
  const Streams streams = TRY(MakeStreams(MessagesAsText(messages) + "\n"));
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", command_};
  spec.inherit_env = true;
  spec.env = {{"PRAGMA_ROLE", key.role},
              {"PRAGMA_NODE", std::to_string(key.node)},
              {"PRAGMA_ORDINAL", std::to_string(key.ordinal)}};
  spec.fds = {{streams.in.get(), 0}, {streams.out.get(), 1}, {streams.err.get(), 2}};
  Process process = TRY(Process::Spawn(spec));
  const ExitStatus status = TRY(Wait(process, streams));
  if (!status.ok()) {
    return Failed(
        fmt::format("ended with {} {}", status.signalled ? "signal" : "exit code", status.code),
        streams);
  }
  Completion completion;
  completion.text = TRY(ReadFile(streams.folder.path() / "out", kReplyBytes));
  completion.model = name();
  FinishCompletion(completion, messages, options_.price);
  completion.seconds = Seconds(clock_.Now() - start).count();
  return completion;
}

// Waits in real time, whatever the clock is, because the child runs in real time.
Result<ExitStatus> CommandModel::Wait(Process& process, const Streams& streams) const {
  const Seconds limit = TimeFor(options_, clock_);
  for (Seconds waited{0}; waited < limit; waited += kLook) {
    if (const auto status = process.WaitFor(std::min(kLook, limit - waited))) {
      return *status;
    }
    if (TimeIsUp()) break;
    if (Interrupted()) {
      process.Kill();
      return Fail(ErrorKind::kInterrupted, "interrupted while waiting for the model's command");
    }
    if (SizeOf(streams.out) > kReplyBytes || SizeOf(streams.err) > kReplyBytes) {
      process.Kill();
      return Failed(
          fmt::format("printed more than {}", FormatBytes(static_cast<double>(kReplyBytes))),
          streams);
    }
  }
  process.Kill();
  if (limit < options_.timeout) {
    return Fail(
        ErrorKind::kTimeUp,
        fmt::format("the model's command \"{}\" had not ended when the time was up", command_));
  }
  return Failed(fmt::format("did not end within {}", FormatSeconds(options_.timeout.count())),
                streams);
}

std::unexpected<Error> CommandModel::Failed(const std::string& what, const Streams& streams) const {
  std::string said;
  if (const auto err = ReadFile(streams.folder.path() / "err", 2 * kReplyBytes)) {
    const std::string_view text = Trim(*err);
    said = text.substr(text.size() - std::min(text.size(), kErrorBytes));
  }
  return Fail(ErrorKind::kUnavailable,
              fmt::format("the model's command \"{}\" {}{}", command_, what,
                          said.empty() ? "" : "; it said: " + ToValidUtf8(said)));
}

}  // namespace

std::unique_ptr<Model> MakeCommandModel(std::string command, const ModelOptions& options,
                                        Clock& clock) {
  return std::make_unique<CommandModel>(std::move(command), options, clock);
}

}  // namespace pragma
