#include "expert/triton/nest_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {
namespace {

// Number of elements read. A smaller kernel finishes before the tuner has launched it (about 30
// us).
constexpr std::int64_t kWorthTuningTiles = std::int64_t{1} << 24;

int Warps(std::int64_t tile) {
  return static_cast<int>(std::clamp<std::int64_t>(PowerOfTwo(tile / 512), 4, 16));
}

Config RowConfig(std::int64_t rows, std::int64_t columns, int warps) {
  return {{{"ROWS", static_cast<int>(rows)}, {"COLUMNS", static_cast<int>(columns)}}, warps};
}

// One axis: enough programs for all processors, otherwise blocks as long as pays off.
Config OneAxis(const char* name, std::int64_t count) {
  const std::int64_t block =
      std::clamp<std::int64_t>(PowerOfTwo(count / (2 * kProcessors)), 128, 1024);
  return {{{name, static_cast<int>(block)}}, 4};
}

std::vector<Config> Taps(std::int64_t results, std::int64_t elements) {
  const auto config = [](int block, int warps) { return Config{{{"ROWS", block}}, warps}; };
  std::vector<Config> configs{OneAxis("ROWS", results)};
  if (elements < kWorthTuningTiles) return configs;
  if (configs[0].constants[0].second != 1024) configs.push_back(config(1024, 4));
  configs.insert(configs.end(), {config(2048, 8), config(512, 4), config(4096, 8)});
  return configs;
}

// Several results for each row, in registers: few rows for each thread.
std::vector<Config> GroupsOfTaps(std::int64_t elements) {
  const auto config = [](int rows, int warps) { return Config{{{"ROWS", rows}}, warps}; };
  if (elements < kWorthTuningTiles) return {config(64, 1)};
  return {config(128, 2), config(512, 4), config(64, 1), config(256, 4)};
}

// Results side by side, with the reduced elements in blocks: enough programs for all processors.
std::vector<Config> DownColumns(std::int64_t results, std::int64_t elements) {
  const Config narrow = RowConfig(32, 32, 4);
  const Config middle = RowConfig(64, 16, 4);
  const Config wide = RowConfig(128, 16, 8);
  if (elements < kWorthTuningTiles) return {results >= 128 * kProcessors ? middle : narrow};
  return {middle, wide, narrow, RowConfig(128, 64, 8)};
}

std::vector<Config> AlongRows(std::int64_t elements) {
  const Config usual = RowConfig(1, 4096, 8);
  if (elements < kWorthTuningTiles) return {usual};
  return {usual, RowConfig(1, 2048, 4), RowConfig(1, 1024, 4), RowConfig(1, 8192, 16)};
}

std::vector<Config> WholeRows(const Nest& nest) {
  const std::int64_t columns = PowerOfTwo(nest.InnerCount());
  const std::int64_t most = std::max<std::int64_t>(1, nest.OuterCount() / (2 * kProcessors));
  std::int64_t rows = 1;
  while (rows * columns < 2048 && rows * 2 <= most) rows *= 2;
  const std::int64_t tile = rows * columns;
  std::vector<Config> configs{RowConfig(rows, columns, Warps(tile))};
  if (nest.OuterCount() * nest.InnerCount() < kWorthTuningTiles) return configs;
  configs.push_back(RowConfig(rows, columns, std::min(32, 2 * Warps(tile))));
  if (rows * 2 <= most && tile <= 4096)
    configs.push_back(RowConfig(rows * 2, columns, Warps(2 * tile)));
  if (rows > 1) configs.push_back(RowConfig(rows / 2, columns, Warps(tile / 2)));
  return configs;
}

std::int64_t StepAlong(const AffineForm& form, std::size_t dim) {
  return std::abs(form.factor[dim]);
}

// The side of a turned tile. A smaller matrix is turned well enough by the caches.
constexpr std::int64_t kTurnedSide = 64;
constexpr std::int64_t kSmallestTurned = 16;

// Returns the dimension along which neighbouring elements are neighbours in memory.
std::optional<std::size_t> Along(const AffineForm& form, const Shape& shape) {
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (form.factor[i] == 1 && shape[i] >= kSmallestTurned) return i;
  return std::nullopt;
}

Config TurnedConfig(const Nest& nest) {
  const std::int64_t columns = nest.shape[TurnedOf(nest)->column];
  const auto side = [](std::int64_t count) { return std::min(kTurnedSide, PowerOfTwo(count)); };
  return RowConfig(side(Elements(nest.shape) / columns), side(columns), 4);
}

}  // namespace

bool RunsDownColumns(const std::vector<Step>& steps, const Shape& shape,
                     const std::vector<bool>& inner) {
  std::size_t last_outer = shape.size();
  std::int64_t folded = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (inner[i]) {
      folded *= shape[i];
    } else if (shape[i] > 1) {
      last_outer = i;
    }
  }
  if (last_outer == shape.size() || folded == 1) return false;
  int down = 0;
  int along = 0;
  for (const Step& step : steps) {
    VisitLoads(step.expr, [&](const Load& load, ExprType) {
      bool varies = false;
      for (std::size_t i = 0; i < shape.size(); ++i)
        varies = varies || (inner[i] && load.address.factor[i] != 0);
      const std::int64_t beside = StepAlong(load.address, last_outer);
      if (!varies || beside == 0) return;
      ++(beside < folded ? down : along);
    });
  }
  return down > along;
}

std::optional<Turned> TurnedOf(const Nest& nest) {
  const std::optional<std::size_t> column = Along(nest.steps.back().place, nest.shape);
  if (!column) return std::nullopt;
  std::optional<std::size_t> across;
  for (const Step& step : nest.steps) {
    if (step.kind != Step::Kind::kMap || step.place.factor[*column] != 1) return std::nullopt;
    VisitLoads(step.expr, [&](const Load& load, ExprType) {
      const std::optional<std::size_t> along = Along(load.address, nest.shape);
      if (along && along != column && load.address.factor[*column] != 0) across = along;
    });
  }
  if (!across) return std::nullopt;
  Turned turned{{}, *column};
  for (std::size_t i = 0; i < nest.shape.size(); ++i)
    if (i != *column && i != *across) turned.rows.push_back(i);
  turned.rows.push_back(*across);
  return turned;
}

Inner InnerOf(const Nest& nest, std::int64_t whole_row) {
  if (nest.InnerCount() == 1 && std::ranges::find(nest.inner, true) == nest.inner.end())
    return TurnedOf(nest) ? Inner::kTurned : Inner::kNone;
  const bool scans = std::ranges::any_of(
      nest.steps, [](const Step& step) { return step.kind == Step::Kind::kScan; });
  if (RunsDownColumns(nest.steps, nest.shape, nest.inner))
    return nest.InnerCount() <= kMostTaps && !scans ? Inner::kTaps : Inner::kBlocks;
  return nest.InnerCount() <= whole_row ? Inner::kWhole : Inner::kBlocks;
}

std::vector<Config> ConfigsOf(const Nest& nest, Inner inner) {
  const std::int64_t elements = Elements(nest.shape);
  // There is nothing to choose: each such kernel is bound by memory, and the tuner would make each
  // launch slower.
  if (inner == Inner::kNone) return {OneAxis("BLOCK", elements)};
  if (inner == Inner::kTurned) return {TurnedConfig(nest)};
  if (inner == Inner::kTaps && nest.steps.front().beside)
    return GroupsOfTaps(elements * static_cast<std::int64_t>(nest.steps.size()));
  if (inner == Inner::kTaps) return Taps(nest.OuterCount(), elements);
  if (inner == Inner::kWhole) return WholeRows(nest);
  return RunsDownColumns(nest.steps, nest.shape, nest.inner)
             ? DownColumns(nest.OuterCount(), elements)
             : AlongRows(elements);
}

}  // namespace pragma::expert::triton
