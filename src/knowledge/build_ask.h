// BuildAsk: questions of the builder to a model, each asked once in the life of the cache.
#pragma once

#include <string>

#include "base/result.h"
#include "knowledge/build.h"
#include "knowledge/build_reply.h"

namespace pragma {

struct BuildQuestion {
  std::string role;     // "knowledge_segment", "knowledge_merge"
  int number = 0;       // among those of the role, from 1
  std::string subject;  // hash of what is asked about
  std::string prompt;
  ReplyRules rules;
};

class BuildAsk final {
 public:
  BuildAsk(const BuildOptions& options, const KnowledgeBuildParts& parts, BuildReport& report)
      : options_(options), parts_(parts), report_(report) {}
  // A reply in the wrong form is told so once. What then cannot be used goes to the report; the
  // reply has no entries and a problem when nothing of it can.
  [[nodiscard]] Result<EntriesReply> Ask(const BuildQuestion& question);

 private:
  [[nodiscard]] Result<EntriesReply> AskModel(const BuildQuestion& question, const ReplyKey& key);
  const BuildOptions& options_;
  const KnowledgeBuildParts& parts_;
  BuildReport& report_;
};

// A line of tildes that `text` does not hold, to stand round it.
[[nodiscard]] std::string FenceFor(const std::string& text);

}  // namespace pragma
