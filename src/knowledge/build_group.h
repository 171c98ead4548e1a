// Groups entries of the first stage that seem to be about the same thing.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "knowledge/entry.h"

namespace pragma {

// The groups contain every index of `entries` exactly once. Entries are in one group if they have
// the same id; if they are of one kind and share a title or alias; or if they are of one kind, a
// search for one entry's names finds the other, and they share half of their words. Groups and
// their members keep the order of `entries`.
[[nodiscard]] Result<std::vector<std::vector<std::size_t>>> GroupEntries(
    const std::vector<Entry>& entries);

}  // namespace pragma
