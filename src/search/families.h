// Families of optimisations: chooses which one to work on, based on measurements. Private to
// search/.
#pragma once

#include <string>
#include <vector>

#include "search/preset.h"
#include "search/strategy.h"

namespace pragma {

class SearchTree;

// Returns the family for the next change of `node`. The choice is UCB1 over the gains of each
// family in this run, initialised with the node's diagnosis. Families whose resource is saturated
// according to the node's profile are left out (the mask of arXiv 2511.18868). The result is empty
// if none is left or the node has no profile.
[[nodiscard]] std::string ChooseFamily(const std::vector<Family>& families, const SearchTree& tree,
                                       int node, const std::vector<InFlight>& in_flight);

}  // namespace pragma
