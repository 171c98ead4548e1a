// Combines the entries of a folder into one checked compendium.
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "base/toml_reader.h"
#include "knowledge/entry.h"
#include "knowledge/words.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFileBytes = std::size_t{4} << 20U;

std::unexpected<Error> Bad(const std::string& problem) { return Fail(ErrorKind::kUsage, problem); }

// Checks that every id and class that `entry` mentions exists.
Result<void> CheckLinks(const Compendium& compendium, const Entry& entry,
                        const std::string& where) {
  for (const std::string& id : entry.related) {
    if (compendium.Find(id) != nullptr) continue;
    const auto near = compendium.Near(id, 1);
    return Bad(where + entry.id + ": related: there is no entry " + id +
               (near.empty() ? "" : "; the nearest is " + near.front()));
  }
  for (const std::string& id : entry.classes) {
    if (compendium.ForClass(id, true) != nullptr) continue;
    return Bad(where + entry.id + ": classes: there is no entry bottleneck." + id);
  }
  return {};
}

std::string PlaceOf(const std::map<std::string, std::string>& names, const std::string& id) {
  const auto found = names.find(id);
  return found == names.end() ? "" : found->second + ": ";
}

std::string NameOf(std::string_view id) {
  return std::string(id.substr(id.find('.') == std::string_view::npos ? 0 : id.find('.') + 1));
}

}  // namespace

Result<Compendium> Compendium::Make(std::vector<Entry> entries,
                                    const std::map<std::string, std::string>& names) {
  std::ranges::sort(entries, {}, &Entry::id);
  const auto twice = std::ranges::adjacent_find(entries, {}, &Entry::id);
  if (twice != entries.end()) {
    return Bad(PlaceOf(names, twice->id) + twice->id + ": id: another entry has it too");
  }
  Compendium compendium(std::move(entries));
  for (const Entry& entry : compendium.entries()) {
    TRY(CheckLinks(compendium, entry, PlaceOf(names, entry.id)));
  }
  return compendium;
}

const Entry* Compendium::Find(std::string_view id) const {
  const auto found = std::ranges::lower_bound(entries_, id, {}, &Entry::id);
  return found != entries_.end() && found->id == id ? &*found : nullptr;
}

const Entry* Compendium::ForMetric(std::string_view tag) const {
  if (const Entry* entry = Find("metric." + std::string(tag))) return entry;
  const auto named = std::ranges::find_if(entries_, [tag](const Entry& entry) {
    return entry.kind == EntryKind::kMetric &&
           std::ranges::find(entry.aliases, tag) != entry.aliases.end();
  });
  return named == entries_.end() ? nullptr : &*named;
}

const Entry* Compendium::ForClass(std::string_view id, bool gpu) const {
  if (gpu) {
    if (const Entry* entry = Find("bottleneck.gpu_" + std::string(id))) return entry;
  }
  return Find("bottleneck." + std::string(id));
}

std::vector<std::string> Compendium::Near(std::string_view word, std::size_t most) const {
  std::vector<std::pair<std::size_t, std::string>> scored;  // most shared words first
  const std::vector<std::string> wanted = WordSet(NameOf(word));
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    names.push_back(NameOf(entry.id));
    const std::size_t shared = SharedWords(wanted, WordSet(names.back()));
    if (shared > 0) scored.emplace_back(shared, entry.id);
  }
  std::ranges::stable_sort(scored, std::ranges::greater{},
                           [](const auto& pair) { return pair.first; });
  std::vector<std::string> near;
  const std::string spelt = Nearest(NameOf(word), names);
  for (const Entry& entry : entries_) {
    if (!spelt.empty() && NameOf(entry.id) == spelt) near.push_back(entry.id);
  }
  for (const auto& [shared, id] : scored) {
    if (std::ranges::find(near, id) == near.end()) near.push_back(id);
  }
  if (near.size() > most) near.resize(most);
  return near;
}

Result<Compendium> LoadCompendium(const fs::path& folder) {
  static constexpr std::array<const char*, 4> kFolders{"metrics", "bottlenecks", "techniques",
                                                       "errors"};
  std::vector<Entry> all;
  std::map<std::string, std::string> names;
  for (const char* name : kFolders) {
    for (const fs::path& file : TRY(TomlFilesIn(folder / name))) {
      const std::string text = TRY(ReadFile(file, kMostFileBytes));
      std::vector<Entry> entries = TRY(ParseEntries(text, file.string()));
      for (Entry& entry : entries) {
        names[entry.id] = file.string();
        all.push_back(std::move(entry));
      }
    }
  }
  if (all.empty()) return Bad("the compendium " + folder.string() + " has no entries");
  return Compendium::Make(std::move(all), names);
}

}  // namespace pragma
