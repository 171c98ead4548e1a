// BuildAsk: asks a model the builder's questions. Each question is asked only once in the lifetime
// of the cache.
#pragma once

#include <string>

#include "base/result.h"
#include "knowledge/build.h"
#include "knowledge/build_reply.h"

namespace pragma {

struct BuildQuestion {
  std::string role;     // "knowledge_segment", "knowledge_merge"
  int number = 0;       // counted within the role, from 1
  std::string subject;  // hash of the subject of the question
  std::string prompt;
  ReplyRules rules;
};

class BuildAsk final {
 public:
  BuildAsk(const BuildOptions& options, const KnowledgeBuildParts& parts, BuildReport& report)
      : options_(options), parts_(parts), report_(report) {}
  // A reply in the wrong form is rejected once, with an explanation. Parts that are still unusable
  // go to the report. If no part is usable, the result has no entries and states a problem.
  [[nodiscard]] Result<EntriesReply> Ask(const BuildQuestion& question);

 private:
  [[nodiscard]] Result<EntriesReply> AskModel(const BuildQuestion& question, const ReplyKey& key);
  const BuildOptions& options_;
  const KnowledgeBuildParts& parts_;
  BuildReport& report_;
};

// Returns a line of tildes that does not occur in `text`, to be used as a fence around it.
[[nodiscard]] std::string FenceFor(const std::string& text);

}  // namespace pragma
