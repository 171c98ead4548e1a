// Entry, Compendium: what is known about metrics, bottlenecks, techniques and errors.
// knowledge/README.md describes the schema.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

enum class EntryKind : std::uint8_t { kMetric, kBottleneck, kTechnique, kError };
[[nodiscard]] std::string_view EntryKindName(EntryKind kind);  // "metric", ...
[[nodiscard]] std::optional<EntryKind> EntryKindFromName(std::string_view name);
// Returns "metric, bottleneck, technique or error", for messages.
[[nodiscard]] std::string EntryKindNames();
[[nodiscard]] const std::vector<std::string>& EntryTargets();  // "cpu", "x86", ...

// One piece of knowledge. The fields are those of knowledge/README.md.
struct Entry {
  std::string id;  // "kind.name"
  EntryKind kind = EntryKind::kTechnique;
  std::string title;
  std::vector<std::string> targets;
  std::vector<std::string> aliases;
  std::string summary;
  std::string when;
  std::string how;
  std::string traps;
  std::string effect;
  std::string fragment;  // empty: none
  std::vector<std::string> classes;
  std::vector<std::string> related;
  std::vector<std::string> sources;
  bool operator==(const Entry&) const = default;
  [[nodiscard]] bool IsFor(std::string_view target) const {
    return std::ranges::find(targets, target) != targets.end();
  }
};

// A text field by its name in the schema, so that readers, writers and checks share one list.
struct EntryText {
  std::string_view name;
  std::string Entry::* member;
  bool required = true;
};
struct EntryList {
  std::string_view name;
  std::vector<std::string> Entry::* member;
  bool filled = false;  // must not be empty
};
[[nodiscard]] const std::vector<EntryText>& EntryTexts();
[[nodiscard]] const std::vector<EntryList>& EntryLists();

// Checks the fields of an entry without its context. Returns "field: problem", or an empty string.
[[nodiscard]] std::string EntryProblem(const Entry& entry);

// Parses the entries of one TOML text. Errors use `name` for the text, and name the entry and its
// field. Any bytes are accepted as input. [[metric]] tables are left to ParseMetrics.
[[nodiscard]] Result<std::vector<Entry>> ParseEntries(std::string_view text,
                                                      const std::string& name);
// Writes entries as TOML. ParseEntries(EntriesToToml(e)) == e for entries without a problem.
[[nodiscard]] std::string EntriesToToml(const std::vector<Entry>& entries);

// A set of entries, sorted by id.
class Compendium final {
 public:
  // It is an error if an id occurs twice, or if no entry has a `related` id or a class that an
  // entry mentions. `names` gives the origin of each entry.
  [[nodiscard]] static Result<Compendium> Make(std::vector<Entry> entries,
                                               const std::map<std::string, std::string>& names);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const Entry* Find(std::string_view id) const;  // nullptr: none
  // Returns the entry metric.TAG, otherwise the metric that has the tag among its aliases.
  [[nodiscard]] const Entry* ForMetric(std::string_view tag) const;
  // Returns the entry of a diagnosis class. For a GPU, bottleneck.gpu_CLASS takes precedence.
  [[nodiscard]] const Entry* ForClass(std::string_view id, bool gpu) const;
  // Returns at most `most` ids that the user may have meant by `word`, best first.
  [[nodiscard]] std::vector<std::string> Near(std::string_view word, std::size_t most) const;

 private:
  explicit Compendium(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  std::vector<Entry> entries_;
};

// Reads metrics/, bottlenecks/, techniques/ and errors/ of `folder`. Other folders hold no entries.
// The first invalid file or entry is the error: one line with file, entry and field.
[[nodiscard]] Result<Compendium> LoadCompendium(const std::filesystem::path& folder);

}  // namespace pragma
