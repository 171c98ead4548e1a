#include "agent/ask.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "core/spent.h"
#include "llm/model.h"

namespace pragma {
namespace {

// Limit, in bytes, on the part of an unusable reply that is sent back to the model.
constexpr std::size_t kReturnedBytes = 16000;

// How much of a prompt is kept each time that a model finds it too long.
constexpr double kKept = 0.7;

std::size_t BytesOf(const std::vector<Message>& messages) {
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.text.size();
  return bytes;
}

// Asks, with less and less of the prompt while the model finds it too long.
Result<Completion> AskShorter(Model& model, Question& question) {
  while (true) {
    Result<Completion> completion =
        model.Complete(question.messages, question.sampling, question.key);
    const bool too_long = !completion && completion.error().kind == ErrorKind::kTooLong;
    if (!too_long || !question.shorten) return completion;
    const std::size_t bytes = BytesOf(question.messages);
    std::vector<Message> shorter =
        TRY(question.shorten(static_cast<std::size_t>(static_cast<double>(bytes) * kKept)));
    if (BytesOf(shorter) >= bytes) {
      return Fail(ErrorKind::kTooLong,
                  completion.error().message +
                      "; the prompt is as short as it can be (task, interface and rules)");
    }
    Log(LogLevel::kInfo, fmt::format("{}: cut to {}", completion.error().message,
                                     FormatBytes(static_cast<double>(BytesOf(shorter)))));
    question.messages = std::move(shorter);
  }
}

}  // namespace

Result<Spent> Ask(Model& model, Question question, const Judge& judge) {
  Spent spent;
  for (int ordinal = 0;; ++ordinal) {
    question.key.ordinal = ordinal;
    const Result<Completion> asked = AskShorter(model, question);
    // A conversation that has become too long ends with the reply that there is.
    if (!asked && asked.error().kind == ErrorKind::kTooLong && ordinal > 0) return spent;
    const Completion completion = TRY(asked);
    spent += Spent{.seconds = completion.seconds,
                   .tokens_in = completion.tokens_in,
                   .tokens_out = completion.tokens_out,
                   .usd = completion.usd,
                   .tokens_cached = completion.tokens_cached,
                   .usd_saved = completion.usd_saved};
    question.shorten = nullptr;  // the next messages refer to this prompt
    std::string reask = TRY(judge(completion));
    if (reask.empty() || ordinal >= question.max_reasks) return spent;
    // Services refuse an empty turn.
    std::string reply = Shorten(Trim(completion.text), kReturnedBytes);
    if (reply.empty()) reply = "(empty reply)";
    question.messages.push_back({.role = "assistant", .text = std::move(reply)});
    question.messages.push_back({.role = "user", .text = std::move(reask)});
  }
}

}  // namespace pragma
