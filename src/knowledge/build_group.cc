#include "knowledge/build_group.h"

#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "knowledge/entry.h"
#include "knowledge/search.h"
#include "knowledge/words.h"

namespace pragma {
namespace {

constexpr std::size_t kLookedAt = 6;  // hits examined of a search for an entry's names

// Tracks which entries belong together, as a forest in which a root precedes its members.
class Forest final {
 public:
  explicit Forest(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t Root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(std::size_t a, std::size_t b) {
    a = Root(a);
    b = Root(b);
    parent_[a < b ? b : a] = a < b ? a : b;
  }

 private:
  std::vector<std::size_t> parent_;
};

std::string NameOf(const Entry& entry) { return entry.id.substr(entry.id.find('.') + 1); }

// Returns the words of a name in sorted order, so that different spellings of a name share one key.
std::string KeyOf(EntryKind kind, const std::string& name) {
  const std::vector<std::string> words = WordSet(name);
  return words.empty() ? "" : std::string(EntryKindName(kind)) + ":" + Join(words, " ");
}

void JoinSameNames(const std::vector<Entry>& entries, Forest& forest) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::vector<std::string> names{entries[i].title, NameOf(entries[i])};
    names.insert(names.end(), entries[i].aliases.begin(), entries[i].aliases.end());
    for (const std::string& name : names) {
      const std::string key = KeyOf(entries[i].kind, name);
      if (key.empty()) continue;
      const auto [found, fresh] = first.emplace(key, i);
      if (!fresh) forest.Join(found->second, i);
    }
  }
}

bool Alike(const Entry& a, const Entry& b) {
  const std::vector<std::string> mine = WordSet(a.title + " " + NameOf(a));
  const std::vector<std::string> others = WordSet(b.title + " " + NameOf(b));
  const std::size_t shared = SharedWords(mine, others);
  return shared >= 2 && 2 * shared >= mine.size() + others.size() - shared;
}

Result<void> JoinAlike(const std::vector<Entry>& entries, Forest& forest) {
  const KnowledgeIndex index = TRY(KnowledgeIndex::Make(entries));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    SearchRequest request{.text = entries[i].title + " " + NameOf(entries[i]),
                          .limit = kLookedAt,
                          .kind = entries[i].kind};
    const std::vector<SearchHit> hits = TRY(index.Search(request));
    for (const SearchHit& hit : hits) {
      const auto other = static_cast<std::size_t>(hit.entry - entries.data());
      if (other != i && Alike(entries[i], *hit.entry)) forest.Join(i, other);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::vector<std::size_t>>> GroupEntries(const std::vector<Entry>& entries) {
  Forest forest(entries.size());
  JoinSameNames(entries, forest);
  TRY(JoinAlike(entries, forest));
  std::map<std::size_t, std::vector<std::size_t>> by_root;
  for (std::size_t i = 0; i < entries.size(); ++i) by_root[forest.Root(i)].push_back(i);
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [root, members] : by_root) groups.push_back(std::move(members));
  return groups;
}

}  // namespace pragma
