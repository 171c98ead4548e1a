// Plans the nests of a program: which steps share a nest, how each nest is cut into passes, and
// which results need no memory. All back ends share the planner; each has a policy.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

struct NestPolicy {
  // How products are written: as the loops of any sum; in tiles (plan/contraction.h), with steps
  // that join the tile's results; or by the generators of their families (plan/anchor_nests.h),
  // which know attention and convolutions as well.
  enum class Products : std::uint8_t { kLoops, kTiles, kGenerators };
  Products products = Products::kGenerators;
  // What a later pass reads again is computed again, never read back from memory. The result of a
  // scan is then available only while its loop runs.
  bool recomputes = false;
  bool vectors = true;       // vectors run along one dimension of each nest
  bool merges_bands = true;  // whether dimensions are merged to which the bands of a product refer
  bool keeps_empty = true;   // whether steps without elements have a nest
};

// Nests in C++: generators, vectors, and passes over memory that is still in the caches.
inline constexpr NestPolicy kVectorPolicy{};
// Nests in tiles on a GPU. `products` is false where products are to be plain loops.
[[nodiscard]] constexpr NestPolicy TilePolicy(bool products) {
  return {.products = products ? NestPolicy::Products::kTiles : NestPolicy::Products::kLoops,
          .recomputes = true,
          .vectors = false,
          .merges_bands = false,
          .keeps_empty = false};
}

[[nodiscard]] std::vector<Nest> PlanNests(const Program& program,
                                          const NestPolicy& policy = kVectorPolicy);

}  // namespace pragma::expert
