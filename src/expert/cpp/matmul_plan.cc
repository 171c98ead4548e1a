#include "expert/cpp/matmul_plan.h"

#include <algorithm>
#include <cstdint>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_finish.h"
#include "expert/cpp/matmul_kernel.h"
#include "expert/cpp/matmul_simple.h"

namespace pragma::expert {
namespace {

// Up to this depth one block holds the whole depth, and results are written to memory once.
constexpr std::int64_t kWholeDepth = 768;
constexpr std::int64_t kDepthBlock = 512;

std::int64_t RoundUp(std::int64_t size, std::int64_t step) { return Blocks(size, step) * step; }

// Returns whether all of a stays in caches while the columns of b pass by, and each thread has
// enough columns. b is then packed where it is used, and never goes back to memory.
bool HoldsA(const MatmulSpec& spec, const MatmulPlan& plan, const KernelTarget& target,
            std::int64_t column_tiles) {
  constexpr std::int64_t kMostRows = 8192;
  constexpr std::int64_t kTilesForEach = 6;
  return plan.threads > 1 && spec.rows >= 2 * plan.tile.rows && spec.rows <= kMostRows &&
         spec.rows * spec.depth * kFloatBytes <= target.shared_cache_bytes / 2 &&
         column_tiles >= kTilesForEach * plan.threads;
}

}  // namespace

bool IsBanded(const MatmulSpec& spec) { return !spec.a_nonzero.all() || !spec.b_nonzero.all(); }

bool Keeps(const MatmulSpec& spec) {
  return spec.keeps_b && spec.batch == 1 && spec.structure == MatmulStructure::kNone &&
         !IsBanded(spec);
}

MatmulPlan PlanMatmul(const MatmulSpec& spec, const KernelTarget& target) {
  MatmulPlan plan;
  plan.tile = BestTile(target, spec.rows, spec.columns);
  plan.depth_block = spec.depth <= kWholeDepth || Keeps(spec)
                         ? spec.depth
                         : RoundUp(Blocks(spec.depth, Blocks(spec.depth, kDepthBlock)), 16);
  const double work =
      static_cast<double>(spec.batch * spec.rows) * static_cast<double>(spec.columns * spec.depth);
  plan.threads = work < 1e5 ? 1 : target.threads;
  const std::int64_t all_row_tiles = Blocks(spec.rows, plan.tile.rows);
  const std::int64_t tile_columns = plan.tile.vectors * target.lanes;
  const std::int64_t all_column_tiles = Blocks(spec.columns, tile_columns);
  // Half of a core's own cache is for rows of a. The other half is for panels of b and c.
  const std::int64_t most_row_tiles = std::max<std::int64_t>(
      1, target.private_cache_bytes / 2 / (plan.tile.rows * plan.depth_block * kFloatBytes));
  const std::int64_t panel_bytes = tile_columns * plan.depth_block * kFloatBytes;
  plan.shared = !Keeps(spec) && plan.threads > 1 && spec.batch < 2 * plan.threads &&
                all_row_tiles >= 3 * plan.threads;
  plan.panels = !Keeps(spec) && spec.batch == 1 && spec.structure == MatmulStructure::kNone &&
                !IsBanded(spec) && HoldsA(spec, plan, target, all_column_tiles);
  if (plan.panels) {
    plan.shared = false;
    plan.column_tiles = all_column_tiles >= 12 * plan.threads ? 2 : 1;
  } else if (plan.shared) {
    // Chooses the number of blocks of rows so that all threads are busy to the end.
    const std::int64_t blocks =
        RoundUp(Blocks(all_row_tiles, std::min<std::int64_t>(most_row_tiles, 12)), plan.threads);
    plan.row_tiles = Blocks(all_row_tiles, blocks);
    plan.column_tiles =
        std::clamp<std::int64_t>(target.shared_cache_bytes / 2 / panel_bytes, 1, all_column_tiles);
  } else {
    plan.row_tiles = std::min(most_row_tiles, all_row_tiles);
    const std::int64_t share = std::max<std::int64_t>(1, plan.threads);
    plan.column_tiles = std::clamp<std::int64_t>(
        target.shared_cache_bytes / 2 / share / panel_bytes, 1, all_column_tiles);
    // With few matrices, their columns are divided among threads.
    if (spec.batch < 4 * share && share > 1)
      plan.column_tiles =
          std::min(plan.column_tiles, Blocks(all_column_tiles * spec.batch, 4 * share));
  }
  const std::int64_t output_bytes = spec.batch * spec.rows * spec.columns * kFloatBytes;
  plan.stream = spec.aligned_output && !plan.blocked(spec) &&
                output_bytes >= target.shared_cache_bytes && spec.c.first % target.lanes == 0 &&
                spec.c.batch % target.lanes == 0;
  return plan;
}

}  // namespace pragma::expert
