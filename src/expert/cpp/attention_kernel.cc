#include "expert/cpp/attention_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/attention_text.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kKeyBlock = 128;
constexpr std::int64_t kQueryBlock = 96;

int ThreadsFor(const AttentionSpec& spec, const KernelTarget& target) {
  const double work = static_cast<double>(spec.batch * spec.rows) *
                      static_cast<double>(spec.keys * (spec.depth + spec.columns));
  return work < 1e5 ? 1 : target.threads;
}

std::string Head(const AttentionSpec& spec, const KernelTarget& target, CppFacts& facts) {
  const std::string name = InCapitals(spec.name);
  const RegisterTile tile = BestTile(target, spec.rows, std::min(spec.keys, kKeyBlock));
  // Enough blocks of queries for all threads, where the batch alone is too small.
  const std::int64_t wanted = (4 * target.threads + spec.batch - 1) / spec.batch;
  const std::int64_t block = std::clamp<std::int64_t>(spec.rows / wanted, tile.rows, kQueryBlock);
  const auto tunable = [&](const char* what, std::int64_t value, std::vector<std::int64_t> others) {
    const TunableNumber number = NumberOf(name + what, value, std::move(others));
    return spec.tuning.Declare(number, facts.tunables) + "\n";
  };
  std::string text = fmt::format(
      "\n// Weights of {0} queries for {1} keys, from products over {2}, times {3} columns of "
      "values{4}.\n// In blocks of keys: scores are never stored as a whole.\nnamespace {5} {{\n"
      "static constexpr std::int64_t kBatch = {6}, kRows = {0}, kKeys = {1}, kDepth = {2}, "
      "kColumns = {3};\n",
      spec.rows, spec.keys, spec.depth, spec.columns,
      spec.batch > 1 ? fmt::format(", {} times", spec.batch) : "", spec.name, spec.batch);
  text += "// Sums in registers: rows times vectors.\n";
  text += tunable("_TILE_ROWS", tile.rows, {4, 6, 8, 12});
  text += tunable("_TILE_VECTORS", tile.vectors, {1, 2, 3});
  text += "// Blocks: of queries (in tiles) and of keys, for the core's own cache.\n";
  text += tunable("_ROW_TILES", Blocks(block, tile.rows), {4, 8, 16, 32});
  text += tunable("_KEYS", kKeyBlock, {64, 128, 256});
  text += fmt::format(R"(static constexpr int kThreads = {0};
static constexpr std::int64_t kTileRows = std::min<std::int64_t>({1}_TILE_ROWS, kRows);
static constexpr std::int64_t kTileVectors = {1}_TILE_VECTORS;
static constexpr std::int64_t kTileColumns = kTileVectors * kLanes;
static constexpr std::int64_t kQueryBlock = {1}_ROW_TILES * kTileRows;
// Keys and columns fill whole panels.
static constexpr std::int64_t Panels(std::int64_t count) {{
  return (count + kTileColumns - 1) / kTileColumns * kTileColumns;
}}
static constexpr std::int64_t kKeyBlock = Panels(std::min<std::int64_t>({1}_KEYS, kKeys));
static constexpr std::int64_t kScorePitch = kKeyBlock + kLanes, kSumPitch = Panels(kColumns);
static constexpr std::int64_t kKeyRoom = kKeyBlock * kDepth, kValueRoom = kSumPitch * kKeyBlock;
static constexpr std::int64_t kScoreRoom = kTileRows * kScorePitch, kSumRoom = kQueryBlock * kSumPitch;
)",
                      ThreadsFor(spec, target), name);
  return text;
}

std::string Applied(const Epilogue& epilogue, bool whole) {
  if (!epilogue) return "";
  OutputSite site;
  site.whole = whole;
  if (!whole) site.lanes = "lanes";
  std::string text = epilogue(site);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

}  // namespace

KernelText GenerateAttention(const AttentionSpec& spec, const KernelTarget& target) {
  const std::string extra = ExtraParameters(spec.extra);
  const std::string arguments = ExtraArguments(spec.extra);
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const bool parallel = ThreadsFor(spec, target) > 1;
  std::string beyond;
  std::string skip;
  if (spec.diagonal) {
    beyond = fmt::format("    if (key0 > row0 + rows - 1 + {}) break;  // nothing but -infinity\n",
                         *spec.diagonal);
    skip = fmt::format("      if (key0 > row0 + row + kTileRows - 1 + {}) continue;\n",
                       *spec.diagonal);
  }
  KernelText kernel;
  kernel.pieces = {VectorPiece::kCore, VectorPiece::kParts, VectorPiece::kLoops,
                   VectorPiece::kLanes, VectorPiece("ExpNegative")};
  kernel.code = Head(spec, target, kernel.facts);
  kernel.facts.shares_work = parallel;
  kernel.code +=
      FillIn(attention_text::kFinish, {{"extra", extra},
                                       {"out_batch", number(spec.out.batch)},
                                       {"out_row", number(spec.out.first)},
                                       {"epilogue_whole", Applied(spec.epilogue, true)},
                                       {"epilogue_part", Applied(spec.epilogue, false)}});
  kernel.code += FillIn(attention_text::kTiles, {{"query_row", number(spec.query.first)},
                                                 {"query_depth", number(spec.query.second)}});
  kernel.code += FillIn(attention_text::kWeigh, {{"extra", extra},
                                                 {"arguments", arguments},
                                                 {"score", Applied(spec.score, true)},
                                                 {"score_part", Applied(spec.score, false)}});
  kernel.code += FillIn(
      attention_text::kDriver,
      {{"extra", extra},
       {"arguments", arguments},
       {"query_row", number(spec.query.first)},
       {"key_row", number(spec.key.first)},
       {"key_depth", number(spec.key.second)},
       {"value_row", number(spec.value.first)},
       {"value_column", number(spec.value.second)},
       {"query_batch", number(spec.query.batch)},
       {"key_batch", number(spec.key.batch)},
       {"value_batch", number(spec.value.batch)},
       {"beyond", beyond},
       {"skip", skip},
       {"inverse", spec.empty_zero ? "known[row].total == 0.0f ? 0.0f : 1.0f / known[row].total"
                                   : "1.0f / known[row].total"},
       {"parallel", parallel ? "#pragma omp parallel num_threads(kThreads)\n" : ""},
       {"thread", parallel ? "omp_get_thread_num()" : "0"},
       {"omp_for", parallel ? "#pragma omp for collapse(2) schedule(dynamic)\n" : ""}});
  kernel.code += fmt::format("}}  // namespace {}\n", spec.name);
  return kernel;
}

}  // namespace pragma::expert
