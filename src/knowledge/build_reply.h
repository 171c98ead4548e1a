// Replies of the builder's two stages. Foreign text ends here: any bytes are accepted, and what is
// kept has been checked against the schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/entry.h"

namespace pragma {

// What sources say differently about one thing.
struct Claim {
  std::string source;
  std::string says;
};
struct Conflict {
  std::string entry;  // id
  std::string about;
  std::vector<Claim> claims;  // at least two
};

// What an answer must keep to.
struct ReplyRules {
  std::vector<std::string> sources;  // of the text; put into each entry
  std::vector<std::string> classes;  // diagnosis classes that there are
  std::vector<std::string> ids;      // second stage: the only ids allowed; empty: any
};

struct EntriesReply {
  std::vector<Entry> entries;        // those without a problem
  std::vector<Conflict> conflicts;   // second stage
  std::vector<std::string> dropped;  // what is wrong with the others, "entry 2 (metric.x): ..."
  std::string problem;               // empty: the reply can be used as it is
};

// {"entries": [...], "conflicts": [...]}, fenced or in prose.
[[nodiscard]] EntriesReply ParseEntriesReply(std::string_view reply, bool truncated,
                                             const ReplyRules& rules);

// An entry as the prompts show it: the JSON that a reply has to have.
[[nodiscard]] std::string EntryToJson(const Entry& entry);

}  // namespace pragma
