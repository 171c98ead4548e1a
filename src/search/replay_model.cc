#include "search/replay_model.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "search/recording.h"
#include "store/store.h"

namespace pragma {
namespace {

bool SamePrompt(const std::string& recorded, const std::vector<Message>& messages) {
  const auto parsed = MessagesFromJson(recorded);
  return parsed && MessagesToJson(*parsed) == MessagesToJson(messages);
}

}  // namespace

ReplayModel::ReplayModel(const Recording& recording) : recording_(recording) {
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const CallRecord& call = recording.calls[i];
    calls_.emplace(std::tuple(call.node, call.role, call.ordinal), i);
  }
}

Result<Completion> ReplayModel::Complete(const std::vector<Message>& messages,
                                         const Sampling& /*sampling*/, const CallKey& key) {
  const auto found = calls_.find({key.node, key.role, key.ordinal});
  if (found == calls_.end()) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the recording of {} has no reply of the {} for attempt {} (call {})",
                            recording_.run, key.role, key.node, key.ordinal));
  }
  const CallRecord& call = recording_.calls[found->second];
  if (!SamePrompt(call.prompt_json, messages)) {
    notes_.push_back(
        fmt::format("attempt {}: the prompt for the {} (call {}) differs from the recorded one",
                    key.node, key.role, key.ordinal));
  }
  return CompletionFromJson(call.completion_json);
}

std::string ReplayModel::name() const {
  return recording_.calls.empty() ? "replay" : recording_.calls.front().model;
}

}  // namespace pragma
