#include "expert/triton/attention_configs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_layout.h"

namespace pragma::expert::triton {
namespace {

struct AttentionBlock {
  int rows = 0;
  int keys = 0;
  int warps = 0;
  int stages = 0;
};
// Measured in bf16 on an H200 with 1,024 and 4,096 keys and heads of 64 and 128, the best of them
// takes 1.03 to 1.4 times as long as cuDNN and 0.6 to 0.8 times as long as Torch's flash attention.
constexpr AttentionBlock kAttentionBlocks[] = {{128, 128, 8, 3}, {128, 64, 8, 2}, {128, 64, 8, 3},
                                               {64, 64, 4, 3},   {128, 64, 4, 3}, {64, 32, 4, 2}};
// Heads of up to 512 bytes: 128 in fp32, 256 in 16 bits. Compiled with hardly any spills, but not
// yet run on a GPU.
constexpr AttentionBlock kLongHeadBlocks[] = {
    {128, 32, 8, 2}, {64, 64, 4, 2}, {128, 64, 8, 2}, {64, 32, 4, 3}, {64, 32, 4, 2}};
constexpr AttentionBlock kUntunedAttention{64, 32, 4, 2};  // fits where heads are long, too
// Reading the keys and values takes all of the time, so many of them are on their way.
constexpr AttentionBlock kFewRows{kNarrowestBlock, 128, 4, 3};
// From this size of shared memory on, blocks of long heads fit.
constexpr std::int64_t kSharedOfLongHeads = std::int64_t{160} << 10;

// Half a block of keys computes so much slower, for each key.
constexpr double kWorthHalving = 1.07;

Config AttentionConfig(const AttentionBlock& block, std::int64_t rows, std::int64_t keys) {
  return {{{"BLOCK_M", std::min(block.rows, WideEnough(rows))},
           {"BLOCK_N", std::min(block.keys, WideEnough(keys))}},
          block.warps,
          block.stages};
}

// Returns the shared memory that a block takes, or more: queries, and the keys and values of each
// stage. Tensor cores read fp32 as two parts, of which some are in shared memory too. Compared with
// what Triton's compiler says for sm_80 to sm_120, heads of 64 to 256 and 16 to 128 rows.
std::int64_t SharedBytes(const AttentionBlock& block, const AttentionSize& size) {
  const std::int64_t lines = std::int64_t{2} * block.stages * block.keys + block.rows;
  const std::int64_t bytes = lines * size.HeadBytes();
  return DTypeSize(size.type) == 4 && block.rows > kNarrowestBlock ? bytes * 5 / 3 : bytes;
}

// Returns the block with fewer keys where they do not fit.
AttentionBlock Fitting(AttentionBlock block, const AttentionSize& size, std::int64_t shared_bytes) {
  while (block.keys > kNarrowestBlock && SharedBytes(block, size) > shared_bytes) block.keys /= 2;
  return block;
}

// Returns the number of the block that is the fastest on an H200 in bf16 and fp16, with heads of 64
// to 128 and 1,024 to 4,096 keys.
std::ptrdiff_t Fastest(bool causal, std::int64_t depth) { return causal ? 3 : depth <= 64 ? 4 : 0; }

// Returns the configuration with half as many keys in a block where that leaves out many keys that
// do not exist. Measured on an H200 with 197 keys and heads of 64: 0.93 times the time.
Config WithoutPadding(Config config, std::int64_t keys) {
  for (auto& [name, value] : config.constants) {
    if (name != "BLOCK_N" || value < 2 * kNarrowestBlock) continue;
    const std::int64_t half = value / 2;
    const std::int64_t padded = (keys + value - 1) / value * value;
    const std::int64_t less = (keys + half - 1) / half * half;
    if (static_cast<double>(padded) > kWorthHalving * static_cast<double>(less)) value /= 2;
  }
  return config;
}

}  // namespace

int WideEnough(std::int64_t size) {
  return static_cast<int>(std::max<std::int64_t>(PowerOfTwo(size), kNarrowestBlock));
}

AttentionPolicy TileAttention(std::int64_t shared_bytes) {
  const bool large = shared_bytes >= kSharedOfLongHeads;
  return {.one_batch = false,
          .vectors = false,
          .longest_head_bytes = large ? 2 * kLongestMeasuredBytes : kLongestMeasuredBytes};
}

std::int64_t AttentionSize::HeadBytes() const {
  return WideEnough(head) * static_cast<std::int64_t>(DTypeSize(type));
}

std::vector<Config> AttentionConfigs(const AttentionSize& size, std::int64_t shared_bytes) {
  const bool long_heads = size.HeadBytes() > kLongestMeasuredBytes;
  if (size.multiplications < kWorthTuning) {
    const AttentionBlock& block = size.rows <= kNarrowestBlock ? kFewRows : kUntunedAttention;
    return {AttentionConfig(Fitting(block, size, shared_bytes), size.rows, size.keys)};
  }
  std::vector<Config> configs;
  std::set<std::vector<std::pair<std::string, int>>> seen;
  const auto blocks = long_heads ? std::span<const AttentionBlock>(kLongHeadBlocks)
                                 : std::span<const AttentionBlock>(kAttentionBlocks);
  for (const AttentionBlock& block : blocks) {
    if (&block != &blocks.back() && SharedBytes(block, size) > shared_bytes) continue;
    Config config = AttentionConfig(Fitting(block, size, shared_bytes), size.rows, size.keys);
    std::vector<std::pair<std::string, int>> key = config.constants;
    key.emplace_back("warps", config.warps);
    key.emplace_back("stages", config.stages);
    if (seen.insert(std::move(key)).second) configs.push_back(std::move(config));
  }
  return configs;
}

void PutFastestFirst(std::vector<Config>& configs, bool causal, std::int64_t depth,
                     std::int64_t keys) {
  const auto fastest = configs.begin() + Fastest(causal, depth);
  std::rotate(configs.begin(), fastest, fastest + 1);
  if (!causal) configs[0] = WithoutPadding(configs[0], keys);
}

}  // namespace pragma::expert::triton
