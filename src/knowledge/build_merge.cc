#include "knowledge/build_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "knowledge/build.h"
#include "knowledge/build_ask.h"
#include "knowledge/build_group.h"
#include "knowledge/build_reply.h"
#include "knowledge/entry.h"
#include "knowledge/words.h"
#include "llm/prompt.h"

namespace pragma {
namespace {

constexpr std::size_t kMostTogether = 10;  // entries in one prompt

void AddMissing(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& item : from) {
    if (std::ranges::find(to, item) == to.end()) to.push_back(item);
  }
}

// Keeps the first of all entries with the same id, with the names and sources of all of them. This
// is the fallback when the model is of no help.
std::vector<Entry> FirstOfEach(const std::vector<Entry>& members) {
  std::vector<Entry> kept;
  for (const Entry& member : members) {
    const auto same = std::ranges::find(kept, member.id, &Entry::id);
    if (same == kept.end()) {
      kept.push_back(member);
      continue;
    }
    AddMissing(same->aliases, member.aliases);
    AddMissing(same->sources, member.sources);
  }
  return kept;
}

// Returns the id of the entry into which the removed entry `id` was merged, judged by shared words.
std::string HeirOf(const std::string& id, const std::vector<Entry>& merged) {
  const auto score = [words = WordSet(id)](const Entry& entry) {
    return SharedWords(words, WordSet(entry.id + " " + Join(entry.aliases, " ")));
  };
  return std::ranges::max_element(merged, {}, score)->id;
}

class Merger final {
 public:
  Merger(BuildAsk& ask, const KnowledgeBuildParts& parts, BuildReport& report)
      : ask_(ask), parts_(parts), report_(report), classes_(ClassesOf(parts.known)) {}

  // Merges a large group piece by piece, each piece together with the result of the previous ones.
  Result<std::vector<Entry>> Group(const std::vector<Entry>& members) {
    std::vector<Entry> merged;
    for (std::size_t at = 0; at < members.size();) {
      std::vector<Entry> together = merged;
      do {
        together.push_back(members[at++]);
      } while (at < members.size() && together.size() < kMostTogether);
      merged = TRY(Together(together));
    }
    return merged;
  }
  // Maps each removed id to the id that replaces it.
  [[nodiscard]] const std::map<std::string, std::string>& heirs() const { return heirs_; }

 private:
  Result<std::vector<Entry>> Together(const std::vector<Entry>& members);
  Result<std::string> Prompt(const std::vector<Entry>& members,
                             const std::vector<std::string>& ids) const;
  void GiveSources(std::vector<Entry>& merged, const std::vector<Entry>& members) const;

  BuildAsk& ask_;
  const KnowledgeBuildParts& parts_;
  BuildReport& report_;
  std::vector<std::string> classes_;
  std::map<std::string, std::string> heirs_;
  int asked_ = 0;
};

Result<std::string> Merger::Prompt(const std::vector<Entry>& members,
                                   const std::vector<std::string>& ids) const {
  PromptData data;
  std::string all;
  for (const Entry& member : members) {
    PromptData item;
    item.texts["member"] = EntryToJson(member);
    all += item.texts["member"] + "\n";
    data.lists["members"].push_back(std::move(item));
  }
  data.texts["fence"] = FenceFor(all);
  data.texts["ids"] = Join(ids, ", ");
  data.texts["classes"] = Join(classes_, ", ");
  return parts_.prompts.Render("knowledge_merge", data);
}

// If a single entry remains, it gets the sources of all entries that were merged. If several
// remain, each keeps its own sources and gets those of all removed entries, because the reply does
// not say which entry absorbed them.
void Merger::GiveSources(std::vector<Entry>& merged, const std::vector<Entry>& members) const {
  for (const Entry& member : members) {
    const bool stays = std::ranges::find(merged, member.id, &Entry::id) != merged.end();
    for (Entry& entry : merged) {
      if (!stays || entry.id == member.id) AddMissing(entry.sources, member.sources);
    }
  }
}

Result<std::vector<Entry>> Merger::Together(const std::vector<Entry>& members) {
  if (members.size() < 2) return members;
  ReplyRules rules{.sources = {"(merged)"}, .classes = classes_, .ids = {}};
  for (const Entry& member : members) AddMissing(rules.ids, {member.id});
  const std::string prompt = TRY(Prompt(members, rules.ids));
  if (parts_.progress) {
    parts_.progress(fmt::format("merging {} entries about {}", members.size(), members[0].title));
  }
  EntriesReply reply = TRY(ask_.Ask({.role = "knowledge_merge",
                                     .number = ++asked_,
                                     .subject = Sha256Hex(Join(rules.ids, "\n") + prompt),
                                     .prompt = prompt,
                                     .rules = rules}));
  if (reply.entries.empty()) return FirstOfEach(members);
  for (Entry& entry : reply.entries) entry.sources.clear();
  GiveSources(reply.entries, members);
  for (const std::string& id : rules.ids) {
    if (std::ranges::find(reply.entries, id, &Entry::id) == reply.entries.end()) {
      heirs_[id] = HeirOf(id, reply.entries);
    }
  }
  std::ranges::move(reply.conflicts, std::back_inserter(report_.conflicts));
  return std::move(reply.entries);
}

// Returns the id that finally replaces `id`.
std::string Follow(const std::map<std::string, std::string>& heirs, std::string id) {
  for (std::size_t step = 0; step < heirs.size() && heirs.contains(id); ++step) id = heirs.at(id);
  return id;
}

// Makes `related` refer only to entries that exist.
void MendLinks(std::vector<Entry>& entries, const std::map<std::string, std::string>& heirs,
               const Compendium& known) {
  std::set<std::string> ids;
  for (const Entry& entry : entries) ids.insert(entry.id);
  for (Entry& entry : entries) {
    std::vector<std::string> related;
    for (const std::string& id : entry.related) {
      const std::string now = ids.contains(id) ? id : Follow(heirs, id);
      const bool there = ids.contains(now) || known.Find(now) != nullptr;
      if (there && now != entry.id) AddMissing(related, {now});
    }
    entry.related = std::move(related);
  }
}

}  // namespace

Result<std::vector<Entry>> MergeEntries(std::vector<Entry> drafts, BuildAsk& ask,
                                        const KnowledgeBuildParts& parts, BuildReport& report) {
  Merger merger(ask, parts, report);
  std::vector<Entry> merged;
  for (const std::vector<std::size_t>& group : TRY(GroupEntries(drafts))) {
    std::vector<Entry> members;
    for (const std::size_t i : group) members.push_back(drafts[i]);
    for (Entry& entry : TRY(merger.Group(members))) merged.push_back(std::move(entry));
  }
  MendLinks(merged, merger.heirs(), parts.known);
  std::ranges::sort(merged, [](const Entry& a, const Entry& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.id < b.id;
  });
  report.merged = drafts.size() - merged.size();
  return merged;
}

std::vector<std::string> ClassesOf(const Compendium& compendium) {
  std::set<std::string> classes;
  for (const Entry& entry : compendium.entries()) {
    if (entry.kind != EntryKind::kBottleneck) continue;
    for (const std::string& id : entry.classes) classes.insert(id);
  }
  return {classes.begin(), classes.end()};
}

}  // namespace pragma
