// Entry, Compendium: what is known about metrics, bottlenecks, techniques and errors
// (knowledge/README.md has the schema).
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
// "metric, bottleneck, technique or error", for messages.
[[nodiscard]] std::string EntryKindNames();
[[nodiscard]] const std::vector<std::string>& EntryTargets();  // "cpu", "x86", ...

// One piece of knowledge; the fields are those of knowledge/README.md.
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

// A text field by its name in the schema, so that readers, writers and checks agree on the list.
struct EntryText {
  std::string_view name;
  std::string Entry::* member;
  bool required = true;
};
struct EntryList {
  std::string_view name;
  std::vector<std::string> Entry::* member;
  bool filled = false;  // may not be empty
};
[[nodiscard]] const std::vector<EntryText>& EntryTexts();
[[nodiscard]] const std::vector<EntryList>& EntryLists();

// What is wrong with a field of the entry on its own, as "field: problem"; empty: nothing.
[[nodiscard]] std::string EntryProblem(const Entry& entry);

// The entries of one TOML text. `name` stands for the text in errors, which name the entry and its
// field. Any bytes are accepted as input.
[[nodiscard]] Result<std::vector<Entry>> ParseEntries(std::string_view text,
                                                      const std::string& name);
// The same back: ParseEntries(EntriesToToml(e)) == e for entries without a problem.
[[nodiscard]] std::string EntriesToToml(const std::vector<Entry>& entries);

// All entries, sorted by id.
class Compendium final {
 public:
  // Errors: an id twice, a `related` id or a class that no entry has. `names` says for each entry
  // where it came from.
  [[nodiscard]] static Result<Compendium> Make(std::vector<Entry> entries,
                                               const std::map<std::string, std::string>& names);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const Entry* Find(std::string_view id) const;  // nullptr: none
  // The entry metric.TAG, else the metric that has the tag among its aliases.
  [[nodiscard]] const Entry* ForMetric(std::string_view tag) const;
  // The entry of a diagnosis class; on a GPU bottleneck.gpu_CLASS wins.
  [[nodiscard]] const Entry* ForClass(std::string_view id, bool gpu) const;
  // Ids that a person may have meant by `word`, best first, at most `most`.
  [[nodiscard]] std::vector<std::string> Near(std::string_view word, std::size_t most) const;

 private:
  explicit Compendium(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  std::vector<Entry> entries_;
};

// Reads metrics/, bottlenecks/, techniques/ and errors/ of `folder`; other folders are not entries.
// The first bad file or entry is the error: one line with file, entry and field.
[[nodiscard]] Result<Compendium> LoadCompendium(const std::filesystem::path& folder);

}  // namespace pragma
