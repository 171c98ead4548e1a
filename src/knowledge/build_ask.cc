#include "knowledge/build_ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "core/spent.h"
#include "knowledge/build.h"
#include "knowledge/build_reply.h"
#include "knowledge/cache.h"
#include "llm/model.h"
#include "llm/prompt.h"

namespace pragma {
namespace {

constexpr int kTries = 2;
constexpr std::size_t kReturnedBytes = 16000;  // sent back of an unusable reply
constexpr std::size_t kKeptLines = 200;        // kept of each kind in the report

bool Usable(const EntriesReply& reply) { return reply.problem.empty() || !reply.entries.empty(); }

void Reject(BuildReport& report, const BuildQuestion& question, const EntriesReply& reply) {
  const auto note = [&](const std::string& problem) {
    if (report.rejected.size() < kKeptLines) {
      report.rejected.push_back(fmt::format("{} {}: {}", question.role, question.number, problem));
    }
  };
  for (const std::string& dropped : reply.dropped) note(dropped);
  if (reply.dropped.empty() && !reply.problem.empty()) note(reply.problem);
}

Spent SpentOf(const Completion& completion) {
  return {.seconds = completion.seconds,
          .tokens_in = completion.tokens_in,
          .tokens_out = completion.tokens_out,
          .usd = completion.usd};
}

}  // namespace

Result<EntriesReply> BuildAsk::Ask(const BuildQuestion& question) {
  const ReplyKey key{
      .segment = question.subject, .prompt = Sha256Hex(question.prompt), .model = options_.model};
  const std::optional<std::string> kept = TRY(parts_.cache.FindReply(key));
  if (!kept) return AskModel(question, key);
  ++report_.cached;
  EntriesReply reply = ParseEntriesReply(*kept, false, question.rules);
  Reject(report_, question, reply);
  return reply;
}

Result<EntriesReply> BuildAsk::AskModel(const BuildQuestion& question, const ReplyKey& key) {
  std::vector<Message> messages{{.role = "user", .text = question.prompt}};
  for (int ordinal = 0;; ++ordinal) {
    ++report_.asked;
    const Completion completion = TRY(parts_.model.Complete(
        messages, options_.sampling,
        {.run = "knowledge", .node = question.number, .role = question.role, .ordinal = ordinal}));
    report_.spent += SpentOf(completion);
    EntriesReply reply = ParseEntriesReply(completion.text, completion.truncated, question.rules);
    const bool last = ordinal + 1 >= kTries;
    if (reply.problem.empty() || (last && Usable(reply))) {
      TRY(parts_.cache.PutReply(key, completion.text));
    }
    if (reply.problem.empty() || last) {
      Reject(report_, question, reply);
      return reply;
    }
    PromptData data;
    data.texts["problem"] = reply.problem;
    std::string returned = Shorten(Trim(completion.text), kReturnedBytes);
    if (returned.empty()) returned = "(empty reply)";
    messages.push_back({.role = "assistant", .text = std::move(returned)});
    messages.push_back(
        {.role = "user", .text = TRY(parts_.prompts.Render("knowledge_reask", data))});
  }
}

std::string FenceFor(const std::string& text) {
  std::size_t longest = 3;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '~' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '~');
}

}  // namespace pragma
