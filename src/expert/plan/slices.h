// Slices: neighbouring nests that treat each image of a batch for itself run for a few images at a
// time, so that what lies between them stays in the caches and needs no memory for the whole batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "expert/ir/target.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"

namespace pragma::expert {

struct Slices {
  std::size_t first = 0;  // nests, both included
  std::size_t last = 0;
  std::int64_t images = 1;
  std::int64_t at_once = 1;          // divides `images`
  std::map<int, std::int64_t> step;  // of the buffers that differ from image to image: elements
  std::set<int> inside;              // of those, what only these nests use: kept for a slice alone
  bool in_turn = false;              // no images: times of a repeat
};

// Finds them, and leaves in those nests and buffers what one slice has. Repeats are among them.
[[nodiscard]] std::vector<Slices> MakeSlices(Program& program, std::vector<Nest>& nests,
                                             const KernelTarget& target);

}  // namespace pragma::expert
