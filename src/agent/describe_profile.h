// Profiles in words, for prompts: the diagnosis first, then the figures as differences to the best.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/profile.h"
#include "knowledge/entry.h"

namespace pragma {

struct ProfileShown {
  const Profile* current = nullptr;  // none: nothing to say
  const Profile* best = nullptr;     // none, or the current one itself: no differences
  std::vector<std::string> extra;    // tags asked for besides the usual ones
  bool hot_lines = true;
};

// The tags that are shown, in order: the default set and the extra ones, as far as they are known.
[[nodiscard]] std::vector<std::string> ShownTags(const ProfileShown& shown);

// The tags that are known and not shown.
[[nodiscard]] std::vector<std::string> OtherTags(const ProfileShown& shown);

// Markdown without a heading of the first level.
[[nodiscard]] std::string ProfileInWords(const ProfileShown& shown);

// The names N of "technique.N" in the diagnosis' actions, each once, in its order.
[[nodiscard]] std::vector<std::string> NamedTechniques(const Profile& profile);
// An entry of the compendium for prompts: title, what it is, how it is done, traps, fragment.
[[nodiscard]] std::string TechniqueInWords(const Entry& technique);

}  // namespace pragma
