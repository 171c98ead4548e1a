// Describes profiles in words, for prompts: the diagnosis first, then the figures and how they
// differ from the best version's.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric_table.h"
#include "core/profile.h"
#include "knowledge/entry.h"

namespace pragma {

struct ProfileShown {
  const MetricTable* metrics = nullptr;  // says which metrics are shown by default
  const Profile* current = nullptr;      // nullptr: nothing is said
  const Profile* best = nullptr;         // nullptr or same as `current`: no differences
  std::vector<std::string> extra;        // tags requested in addition to the default ones
  bool hot_lines = true;
};

// Returns the tags to show, in order: the default set, then the extra ones, each only if its value
// is known.
[[nodiscard]] std::vector<std::string> ShownTags(const ProfileShown& shown);

// Returns the tags whose values are known but not shown.
[[nodiscard]] std::vector<std::string> OtherTags(const ProfileShown& shown);

// Returns the profile as Markdown without a first-level heading.
[[nodiscard]] std::string ProfileInWords(const ProfileShown& shown);

// Returns the names N of all "technique.N" references in an action, in order of appearance.
[[nodiscard]] std::vector<std::string> TechniquesIn(std::string_view action);
// Returns those of all the diagnosis' actions, each once.
[[nodiscard]] std::vector<std::string> NamedTechniques(const Profile& profile);
// Returns a compendium entry for prompts: title, what it is, how to do it, pitfalls, code fragment.
[[nodiscard]] std::string TechniqueInWords(const Entry& technique);

}  // namespace pragma
