// Merge: the second stage. Groups of entries become entries with one name for each thing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "knowledge/build.h"
#include "knowledge/build_ask.h"
#include "knowledge/entry.h"

namespace pragma {

// `drafts` are the entries of the first stage. Ids are unique afterwards; `related` follows ids
// that went into others. Conflicts and counts go to `report`.
[[nodiscard]] Result<std::vector<Entry>> MergeEntries(std::vector<Entry> drafts, BuildAsk& ask,
                                                      const KnowledgeBuildParts& parts,
                                                      BuildReport& report);

// The diagnosis classes of a compendium.
[[nodiscard]] std::vector<std::string> ClassesOf(const Compendium& compendium);

}  // namespace pragma
