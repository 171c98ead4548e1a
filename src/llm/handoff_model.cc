// The model that exchanges prompts and replies as files, for people with a chat window and for
// coding agents. A folder holds NNNN-role.prompt.md (written by pragma) and NNNN-role.reply.md
// (written by the other side). Files are never overwritten. If a prompt file with exactly the same
// text exists, it is used again with its reply, so a run can be resumed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/result.h"
#include "llm/backoff.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "llm/models.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPromptEnd = ".prompt.md";
constexpr Seconds kPoll{0.2};

// Turns a role into a part of a file name.
std::string FileWord(const std::string& role) {
  std::string word;
  for (const char c : role) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    word += plain ? c : '_';
  }
  return word.empty() ? "model" : word;
}

std::string Stem(int number, const std::string& role) {
  return fmt::format("{:04d}-{}", number, FileWord(role));
}

// Returns the number at the start of a file name, or 0 if there is none.
int NumberOf(const std::string& file_name) {
  int number = 0;
  const auto [end, error] =
      std::from_chars(file_name.data(), file_name.data() + file_name.size(), number);
  const bool dash =
      error == std::errc() && end != file_name.data() + file_name.size() && *end == '-';
  return dash && number > 0 ? number : 0;
}

std::string PromptText(const std::string& stem, const std::vector<Message>& messages,
                       const CallKey& key) {
  return fmt::format(
      "<!-- pragma request {0}: run {1}, attempt {2}, {3}, call {4} -->\n"
      "Answer the request below with one text file named `{0}.reply.md` in the folder of this "
      "file.\n"
      "The whole content of that file is taken as your reply, in the form that the request asks "
      "for.\n"
      "Write it under another name first and then rename it, so that it appears complete. The "
      "request\n"
      "is self-contained: no other file is needed.\n\n"
      "---\n\n{5}\n",
      stem, key.run.empty() ? "-" : key.run, key.node, FileWord(key.role), key.ordinal,
      MessagesAsText(messages));
}

class HandoffModel final : public Model {
 public:
  HandoffModel(fs::path folder, ModelOptions options, Clock& clock)
      : folder_(std::move(folder)), options_(std::move(options)), clock_(clock) {}

  Result<Completion> Complete(const std::vector<Message>& messages, const Sampling& sampling,
                              const CallKey& key) override;
  [[nodiscard]] std::string name() const override { return "handoff"; }

 private:
  [[nodiscard]] Result<std::vector<std::string>> FileNames() const;
  [[nodiscard]] Result<std::string> Ask(const std::vector<Message>& messages,
                                        const CallKey& key) const;
  [[nodiscard]] Result<bool> Place(const fs::path& target, const std::string& text) const;
  [[nodiscard]] Result<std::string> AwaitReply(const fs::path& reply) const;

  fs::path folder_;
  ModelOptions options_;
  Clock& clock_;
};

Result<Completion> HandoffModel::Complete(const std::vector<Message>& messages,
                                          const Sampling& /*sampling*/, const CallKey& key) {
  const TimePoint start = clock_.Now();
  const std::string stem = TRY(Ask(messages, key));
  Completion completion;
  completion.text = TRY(AwaitReply(folder_ / (stem + ".reply.md")));
  completion.model = name();
  FinishCompletion(completion, messages, options_.price);
  completion.seconds = Seconds(clock_.Now() - start).count();
  return completion;
}

Result<std::vector<std::string>> HandoffModel::FileNames() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) return Fail(fmt::format("cannot read {}: {}", folder_.string(), error.message()));
  std::ranges::sort(names);
  return names;
}

// Returns the stem of the prompt file that holds this request. It is an existing file with equal
// text, or a new file.
Result<std::string> HandoffModel::Ask(const std::vector<Message>& messages,
                                      const CallKey& key) const {
  const std::vector<std::string> names = TRY(FileNames());
  int last = 0;
  for (const std::string& name : names) {
    const int number = NumberOf(name);
    last = std::max(last, number);
    const std::string stem = Stem(number, key.role);
    if (number == 0 || name != stem + std::string(kPromptEnd)) continue;
    const auto text = ReadFile(folder_ / name);
    if (text && *text == PromptText(stem, messages, key)) return stem;
  }
  for (int number = last + 1;; ++number) {
    const std::string stem = Stem(number, key.role);
    const fs::path target = folder_ / (stem + std::string(kPromptEnd));
    if (TRY(Place(target, PromptText(stem, messages, key)))) return stem;
  }
}

// Places a file. Returns false when the file already exists (another pragma was quicker), because
// link(2) never overwrites.
Result<bool> HandoffModel::Place(const fs::path& target, const std::string& text) const {
  // Threads of one process may want the same number at once.
  const fs::path draft = target.string() + fmt::format(".{}.tmp", ::gettid());
  TRY(WriteFileAtomic(draft, text));
  const int linked = ::link(draft.c_str(), target.c_str());
  const int error = linked == 0 ? 0 : errno;
  ::unlink(draft.c_str());
  if (linked == 0) return true;
  if (error == EEXIST) return false;
  errno = error;
  return FailErrno("cannot write " + target.string());
}

Result<std::string> HandoffModel::AwaitReply(const fs::path& reply) const {
  for (bool said = false;; said = true) {
    // An empty file may come from a shell redirection that has just begun.
    std::error_code error;
    const auto size = fs::file_size(reply, error);
    if (!error && size > 0) return ReadFile(reply, kReplyBytes);
    if (!said) Log(LogLevel::kInfo, fmt::format("waiting for {}", reply.string()));
    if (TimeIsUp() || (options_.deadline && clock_.Now() >= *options_.deadline)) {
      return Fail(ErrorKind::kTimeUp,
                  fmt::format("{} had not appeared when the time was up", reply.string()));
    }
    const auto slept = SleepUnlessInterrupted(clock_, kPoll);
    if (!slept && !TimeIsUp()) {
      return Fail(slept.error().kind,
                  fmt::format("interrupted while waiting for {}", reply.string()));
    }
  }
}

}  // namespace

Result<std::unique_ptr<Model>> MakeHandoffModel(const fs::path& folder, const ModelOptions& options,
                                                Clock& clock) {
  TRY(MakeDirectories(folder));
  return std::make_unique<HandoffModel>(folder, options, clock);
}

}  // namespace pragma
