// Groups: entries of the first stage that seem to be about the same thing.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "knowledge/entry.h"

namespace pragma {

// Every index of `entries` once. Together are: the same id; of one kind, a title or alias in
// common; of one kind, found by a search for the other's names and sharing half of their words.
// Groups and their members keep the order of `entries`.
[[nodiscard]] Result<std::vector<std::vector<std::size_t>>> GroupEntries(
    const std::vector<Entry>& entries);

}  // namespace pragma
