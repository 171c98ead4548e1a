// layers: llm
// Parses what a language model wrote (code, advice, reasoning), and the records made from it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/candidate.h"
#include "llm/completion.h"
#include "llm/reply.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool truncated = (data[0] & 1U) != 0;
  const std::string_view reply(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const auto language :
       {pragma::Language::kCpp, pragma::Language::kCuda, pragma::Language::kTriton}) {
    const pragma::CodeReply code = pragma::ParseCodeReply(reply, truncated, language);
    // A reply yields either code or a reason why there is none, never both, and never more than the
    // cap.
    if (code.source.empty() == code.problem.empty() && !code.unsupported) std::abort();
    if (code.source.size() > pragma::kMostSourceBytes) std::abort();
  }
  const pragma::AdviceReply advice = pragma::ParseAdviceReply(reply);
  if (advice.advice.has_value() == !advice.problem.empty()) std::abort();
  if (advice.advice && advice.advice->change.empty() && !advice.advice->stop) std::abort();
  // A record of any reply must be readable again.
  pragma::Completion completion;
  completion.text = reply;
  pragma::FinishCompletion(completion, {}, {});
  const auto again = pragma::CompletionFromJson(pragma::CompletionToJson(completion));
  if (!again || again->text != completion.text) std::abort();
  (void)pragma::CompletionFromJson(reply);
  (void)pragma::MessagesFromJson(reply);
  return 0;
}
