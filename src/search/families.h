// Families of optimisations: which one to work on, by what was measured. Private to search/.
#pragma once

#include <string>
#include <vector>

#include "core/search_tree.h"
#include "search/preset.h"
#include "search/strategy.h"

namespace pragma {

// The family for the next change of `node`: UCB1 over what each family gained in this run, after a
// start by the node's diagnosis; families whose resource the node's profile shows to be saturated
// are left out (the mask of arXiv 2511.18868). Empty: none is left, or the node has no profile.
[[nodiscard]] std::string ChooseFamily(const std::vector<Family>& families, const SearchTree& tree,
                                       int node, const std::vector<InFlight>& in_flight);

}  // namespace pragma
