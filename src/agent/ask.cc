#include "agent/ask.h"

#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "core/spent.h"
#include "llm/model.h"

namespace pragma {
namespace {

// Limit, in bytes, on the part of an unusable reply that is sent back to the model.
constexpr std::size_t kReturnedBytes = 16000;

}  // namespace

Result<Spent> Ask(Model& model, Question question, const Judge& judge) {
  Spent spent;
  for (int ordinal = 0;; ++ordinal) {
    question.key.ordinal = ordinal;
    const Completion completion =
        TRY(model.Complete(question.messages, question.sampling, question.key));
    spent += Spent{.seconds = completion.seconds,
                   .tokens_in = completion.tokens_in,
                   .tokens_out = completion.tokens_out,
                   .usd = completion.usd};
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
