// Finds products whose results are taken apart by views, as the projection of queries, keys and
// values is. Each part would otherwise be computed from the product, with its bias, by a step of
// its own.
#pragma once

#include <set>
#include <string>

#include "core/task.h"

namespace pragma::expert {

// Returns the names of those nodes.
[[nodiscard]] std::set<std::string> CutProducts(const Task& task);

}  // namespace pragma::expert
