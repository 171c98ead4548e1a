// Merge: the second stage. It turns groups of entries into entries with one name for each thing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "knowledge/build.h"
#include "knowledge/build_ask.h"
#include "knowledge/entry.h"

namespace pragma {

// `drafts` are the entries of the first stage. The resulting ids are unique, and `related` is
// updated for ids that were merged into others. Conflicts and counts go to `report`.
[[nodiscard]] Result<std::vector<Entry>> MergeEntries(std::vector<Entry> drafts, BuildAsk& ask,
                                                      const KnowledgeBuildParts& parts,
                                                      BuildReport& report);

// Returns the diagnosis classes of a compendium.
[[nodiscard]] std::vector<std::string> ClassesOf(const Compendium& compendium);

}  // namespace pragma
