// Parses the model's replies in both stages. This is where untrusted text is checked: any bytes are
// accepted, and what is kept conforms to the schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/entry.h"

namespace pragma {

// A statement of one source, where the sources disagree about one thing.
struct Claim {
  std::string source;
  std::string says;
};
struct Conflict {
  std::string entry;  // id
  std::string about;
  std::vector<Claim> claims;  // at least two
};

// The constraints on an answer.
struct ReplyRules {
  std::vector<std::string> sources;  // sources of the text, copied into each entry
  std::vector<std::string> classes;  // existing diagnosis classes
  std::vector<std::string> ids;      // second stage: the only allowed ids; empty: any
};

struct EntriesReply {
  std::vector<Entry> entries;        // entries without a problem
  std::vector<Conflict> conflicts;   // second stage only
  std::vector<std::string> dropped;  // problems of the others, "entry 2 (metric.x): ..."
  std::string problem;               // empty: the reply is usable as it is
};

// Parses {"entries": [...], "conflicts": [...]}, which may be fenced or in prose.
[[nodiscard]] EntriesReply ParseEntriesReply(std::string_view reply, bool truncated,
                                             const ReplyRules& rules);

// Returns an entry in the form that prompts show: the JSON that a reply must have.
[[nodiscard]] std::string EntryToJson(const Entry& entry);

}  // namespace pragma
