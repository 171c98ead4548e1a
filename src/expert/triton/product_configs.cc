#include "expert/triton/product_configs.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_layout.h"

namespace pragma::expert::triton {
namespace {

struct Block {
  int rows = 0;
  int columns = 0;
  int depth = 0;
  int warps = 0;
  int stages = 0;
};

// Blocks of operands that go through registers, since they are split into parts or converted.
constexpr Block kBlocks[] = {{128, 128, 32, 8, 3}, {128, 64, 32, 4, 3},  {64, 128, 32, 4, 3},
                             {64, 64, 32, 4, 3},   {128, 128, 64, 8, 2}, {64, 32, 64, 4, 3}};
// Blocks of 16-bit operands, which tensor cores read straight from shared memory. Measured in bf16
// on an H200 from 2048^3 to 8192^3, the best of them takes at most 1.07 times as long as cuBLAS;
// with a transposed right operand at most 1.2 times; from 12544 x 384 x 1536 to 12608 x 768 x
// 3072 1.03 to 1.4 times.
constexpr Block kStoredBlocks[] = {{128, 256, 64, 8, 3}, {128, 128, 64, 4, 3}, {128, 128, 32, 4, 4},
                                   {128, 64, 64, 4, 4},  {64, 128, 64, 4, 4},  {64, 64, 64, 4, 5}};

// Blocks of fp32 operands in two parts, which take four times the shared memory of 16 bits.
constexpr Block kPartBlocks[] = {
    {128, 128, 32, 8, 3}, {128, 64, 32, 4, 3}, {64, 128, 32, 4, 3}, {64, 64, 32, 4, 3}};

std::span<const Block> BlocksOf(Operands operands) {
  switch (operands) {
    case Operands::kInRegisters: return kBlocks;
    case Operands::kStored: return kStoredBlocks;
    case Operands::kInParts: return kPartBlocks;
  }
  return kBlocks;
}

std::int64_t BytesOf(Operands operands) {
  return operands == Operands::kStored ? 2 : operands == Operands::kInParts ? 8 : 4;
}

// Returns whether a block of each operand fits for every stage, beside `other_bytes`.
bool Fits(const Block& block, Operands operands, std::int64_t shared_bytes,
          std::int64_t other_bytes) {
  const std::int64_t elements =
      std::int64_t{block.stages} * (block.rows + block.columns) * block.depth;
  return elements * BytesOf(operands) + other_bytes <= shared_bytes;
}

Config ConfigOf(const Block& block) {
  return {{{"BLOCK_M", block.rows}, {"BLOCK_N", block.columns}, {"BLOCK_K", block.depth}},
          block.warps,
          block.stages};
}

// Number of multiplications of 16 bits from which on the tuner's launch does not matter. A smaller
// product takes less than 50 us, and the tuner's launch 20.
constexpr std::int64_t kWorthTuningStored = std::int64_t{1} << 34;

// Largest depth that counts as short for a persistent kernel, the part of its time that overlapping
// leaves there, and the time of a tile alone in units of two tiles that share a processor.
constexpr std::int64_t kShortDepth = 1024;
constexpr double kOverlapped = 0.92;
constexpr double kAlone = 0.6;

// Shared memory through which a persistent kernel's descriptor stores a part of its results.
constexpr std::int64_t kStoreBytes = std::int64_t{8} << 10;

// Smallest number of rows and columns for which arithmetic decides. A narrower product takes the
// time of loading the other operand, for which all processors are needed.
constexpr std::int64_t kNarrow = 64;

// The block of a product with few rows, whose time is that of loading the other operand: it is
// small, and many of its loads are under way at a time. Measured on an H200 with 8 rows, 512 to
// 8192 columns and depths of 2048 and 8192, with the weights in memory: 0.9 to 1.1 times as long as
// cuBLAS.
constexpr Block kBlockOfFewRows{16, 32, 256, 2, 4};

// The time of a block of 16 bits, in multiplications of rows and columns: the smaller a block, the
// more of it is spent on loads. Measured on an H200 with 1024^3 and 2048^3.
double TimeOf(const Config& config) {
  const int size = LargestOf({config}, "BLOCK_M") * LargestOf({config}, "BLOCK_N");
  const double speed = size > 128 * 128  ? 1.0
                       : size > 64 * 128 ? 0.95
                       : size > 64 * 64  ? 0.8
                                         : 0.65;
  return size / speed;
}

// Returns the configuration whose blocks take the least time in all, one per processor at a time.
Config Fastest(const std::vector<Config>& configs, const std::vector<GridFactor>& grid) {
  const auto time = [&](const Config& config) {
    const std::int64_t waves = (Programs(grid, config) + kProcessors - 1) / kProcessors;
    return static_cast<double>(waves) * TimeOf(config);
  };
  return *std::ranges::min_element(configs, std::less<>(), time);
}

// Returns the time of a persistent kernel in the same unit. Where two programs share a processor,
// one of them stores while the other multiplies, which matters where the depth is short; and a last
// tile that has a processor to itself takes little more than half the time of two. Measured on an
// H200 with 2048 to 50176 rows and depths of 192 to 8192.
double TimeOfPersistent(const Config& config, const std::vector<GridFactor>& grid,
                        std::int64_t depth) {
  const std::int64_t tiles = Programs(grid, config);
  const std::int64_t together = LargestOf({config}, "PROGRAMS");
  const bool shares = together > kProcessors;
  const std::int64_t last = tiles % together;
  const double last_wave = last == 0 ? 0 : shares && last <= kProcessors ? kAlone : 1;
  const double waves = static_cast<double>(tiles / together) + last_wave;
  const double overlap = shares && depth <= kShortDepth ? kOverlapped : 1;
  return waves * TimeOf(config) * static_cast<double>(together) / kProcessors * overlap;
}

// Returns the largest tiles that keep all processors busy, or the smallest where none do.
Config Untuned(const std::vector<Config>& configs, const std::vector<GridFactor>& grid) {
  for (const Config& config : configs)
    if (Programs(grid, config) >= kProcessors) return config;
  return configs.back();
}

int Fitting(int block, std::int64_t size) {
  return static_cast<int>(
      std::clamp<std::int64_t>(PowerOfTwo(size), 16, static_cast<std::int64_t>(block)));
}

Config NoLarger(const Block& block, const ProductSize& size) {
  return ConfigOf({Fitting(block.rows, size.rows), Fitting(block.columns, size.columns),
                   Fitting(block.depth, size.depth), block.warps, block.stages});
}

// Returns the blocks that fit, no larger than the matrices and each once. `other_bytes` is the
// shared memory that they need for other things. The last block is there in any case.
std::vector<Config> BlocksFor(const ProductSize& size, Operands operands,
                              std::int64_t other_bytes = 0) {
  std::vector<Config> configs;
  std::set<std::vector<int>> seen;
  const std::span<const Block> blocks = BlocksOf(operands);
  for (const Block& block : blocks) {
    if (&block != &blocks.back() && !Fits(block, operands, size.shared_bytes, other_bytes))
      continue;
    const Config config = NoLarger(block, size);
    std::vector<int> sides;
    for (const auto& [name, side] : config.constants) sides.push_back(side);
    if (seen.insert(std::move(sides)).second) configs.push_back(config);
  }
  return configs;
}

}  // namespace

std::vector<GridFactor> ProductGrid(const ProductSize& size) {
  std::vector<GridFactor> grid;
  if (size.batch > 1) grid.push_back({size.batch, ""});
  grid.push_back({size.rows, "BLOCK_M"});
  grid.push_back({size.columns, "BLOCK_N"});
  return grid;
}

std::vector<Config> ProductConfigs(const ProductSize& size, Operands operands) {
  const bool stored = operands == Operands::kStored;
  if (stored && size.rows <= kFewRowsOfProduct) return {NoLarger(kBlockOfFewRows, size)};
  const std::vector<Config> configs = BlocksFor(size, operands);
  const std::int64_t multiplications = size.batch * size.rows * size.columns * size.depth;
  const bool narrow = std::min(size.rows, size.columns) < kNarrow;
  if (stored && !narrow && multiplications < kWorthTuningStored)
    return {Fastest(configs, ProductGrid(size))};
  if (multiplications < kWorthTuning) return {Untuned(configs, ProductGrid(size))};
  return configs;
}

std::vector<Config> PersistentConfigs(const ProductSize& size) {
  std::vector<Config> configs = BlocksFor(size, Operands::kStored, kStoreBytes);
  for (Config& config : configs) {
    const bool small = LargestOf({config}, "BLOCK_M") * LargestOf({config}, "BLOCK_N") <= 128 * 128;
    config.constants.emplace_back("PROGRAMS", (small ? 2 : 1) * kProcessors);
  }
  const auto fastest = std::ranges::min_element(configs, std::less<>(), [&](const Config& config) {
    return TimeOfPersistent(config, ProductGrid(size), size.depth);
  });
  std::rotate(configs.begin(), fastest, fastest + 1);
  return configs;
}

std::vector<Config> PackedConfigs(std::int64_t shared_bytes) {
  std::vector<Config> configs;
  for (const Block& block : std::span(kPartBlocks).first<3>())
    if (Fits(block, Operands::kInParts, shared_bytes, 0)) configs.push_back(ConfigOf(block));
  if (configs.empty()) configs.push_back(ConfigOf(std::end(kPartBlocks)[-1]));
  return configs;
}

}  // namespace pragma::expert::triton
