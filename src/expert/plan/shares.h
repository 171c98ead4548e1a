// Shares: where the iterations of a repeat treat images of a batch, heads or channels separately,
// each thread takes some of them through all iterations. Threads then need not wait for each other
// in every iteration, and a state stays in the cache of one core.
#pragma once

#include <vector>

#include "expert/ir/target.h"
#include "expert/plan/nest.h"
#include "expert/plan/slices.h"

namespace pragma::expert {

// Divides the nests of a repeat, if that is possible and worth threads.
void ShareRepeat(Slices& repeat, std::vector<Nest>& nests, const KernelTarget& target);

}  // namespace pragma::expert
