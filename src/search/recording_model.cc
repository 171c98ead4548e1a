#include "search/recording_model.h"

#include <optional>
#include <vector>

#include "base/result.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "store/store.h"

namespace pragma {

Result<Completion> RecordingModel::Complete(const std::vector<Message>& messages,
                                            const Sampling& sampling, const CallKey& key) {
  const std::optional<CallRecord> known =
      TRY(store_.FindCall(key.run, key.node, key.role, key.ordinal));
  if (known) {
    ++reused_;
    return CompletionFromJson(known->completion_json);
  }
  ++asked_;
  Completion completion = TRY(inner_.Complete(messages, sampling, key));
  const CallRecord call{.run = key.run,
                        .node = key.node,
                        .role = key.role,
                        .ordinal = key.ordinal,
                        .model = inner_.name(),
                        .prompt_json = MessagesToJson(messages),
                        .completion_json = CompletionToJson(completion)};
  TRY(store_.AppendCall(call));
  return completion;
}

}  // namespace pragma
