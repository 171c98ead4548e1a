#include "verify/batteries.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "core/task.h"
#include "task/set_layout.h"
#include "verify/element.h"
#include "verify/structure.h"

namespace pragma {
namespace {

constexpr double kDenormalSize = 1e-39;
constexpr double kTinySize = 1e-5;
constexpr double kSmallestMagnitude = -6;  // power of ten, of kWide
constexpr double kParameterSpread = 0.5;
// Sums of so many products of integers stay well below 2^24, where fp32 stops being exact.
constexpr double kExactSum = 4194304;  // 2^22
constexpr double kLargestInteger = 64;
constexpr std::size_t kTable = 16384;  // a power of two
constexpr double kJitter = 0.1;

double Sign(Rng& rng) { return rng.Below(2) == 1 ? -1 : 1; }

// One element of an input; `size`: the nominal rms.
double Value(Battery battery, double rung, double size, double integer_bound, Rng& rng) {
  switch (battery) {
    case Battery::kWide: {
      const double top = std::log10(rung);
      const double power = kSmallestMagnitude + (top - kSmallestMagnitude) * rng.Uniform();
      return Sign(rng) * std::pow(10.0, power);
    }
    case Battery::kHeavyTails: {
      const double cauchy = std::tan(std::numbers::pi * (rng.Uniform() - 0.5));
      return size * std::clamp(cauchy, -rung, rung);
    }
    case Battery::kIntegers: {
      const auto range = static_cast<std::uint64_t>(2 * integer_bound + 1);
      return static_cast<double>(rng.Below(range)) - integer_bound;
    }
    case Battery::kTies: {
      constexpr std::array<double, 3> kValues{-1, 0.5, 2};
      return size * kValues[rng.Below(kValues.size())];
    }
    case Battery::kDenormals: return Sign(rng) * rng.Uniform() * kDenormalSize;
    case Battery::kZeros: return 0;
    case Battery::kTiny: return kTinySize * size * rng.Normal();
    default: return size * rng.Normal();
  }
}

// Whether element `flat` is among those that kOneHot or kLastOnly keep. `hot`: by row.
bool Kept(Battery battery, const TensorSpec& tensor, std::size_t flat,
          const std::vector<std::size_t>& hot) {
  const std::size_t row = tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape.back());
  const std::size_t column = flat % row;
  if (battery == Battery::kOneHot) return column == hot[flat / row];
  if (column + 1 == row) return true;
  if (tensor.shape.size() < 2) return false;
  const auto rows = static_cast<std::size_t>(tensor.shape[tensor.shape.size() - 2]);
  return flat / row % rows + 1 == rows;
}

void KeepFew(Battery battery, const TensorSpec& tensor, Rng& rng, std::byte* data) {
  const std::size_t count = tensor.elements();
  const std::size_t row = tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape.back());
  std::vector<std::size_t> hot(count / std::max<std::size_t>(row, 1));
  for (std::size_t& place : hot) place = rng.Below(row);
  for (std::size_t i = 0; i < count; ++i) {
    if (!Kept(battery, tensor, i, hot)) StoreElement(tensor.dtype, data, i, 0);
  }
}

// Gives each element that was not zero a value, or each when the zeros mean nothing. Large tensors
// take theirs from a table, as logarithms and powers for each element would take longer than the
// kernel; `jitter` then keeps them distinct.
template <class Make>
void Rewrite(const TensorSpec& tensor, bool keep_zeros, bool jitter, Rng& rng, std::byte* data,
             Make value) {
  const std::size_t count = tensor.elements();
  std::vector<double> table(std::min(std::bit_ceil(count), kTable));
  for (double& entry : table) entry = value();
  const double spread = jitter ? kJitter : 0;
  WithReader(tensor.dtype, [&](auto read) {
    for (std::size_t i = 0; i < count; ++i) {
      if (keep_zeros && read(data, i) == 0) continue;
      const double entry = table[rng() & (table.size() - 1)];
      StoreElement(tensor.dtype, data, i, entry * (1 - spread * rng.Uniform()));
    }
  });
}

bool MustStay(const TensorStructure& structure) {
  return structure.few_values || structure.rows_sum_to_one || structure.non_finite;
}

void SprinkleNonFinite(const TensorSpec& tensor, Rng& rng, std::byte* data) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {nan, infinity, -infinity}) {
    StoreElement(tensor.dtype, data, rng.Below(tensor.elements()), value);
  }
}

// The floating inputs that a battery may rewrite, and what applies to them.
struct Applying {
  const Task& task;
  Battery battery;
  double rung;
  Rng& rng;
  double integer_bound;

  void Input(const TensorSpec& tensor, const TensorStructure& structure, bool chosen,
             std::byte* data) const {
    if (MustStay(structure) || tensor.elements() == 0) return;
    const double size = structure.rms > 0 ? structure.rms : 1;
    const bool sparse = battery == Battery::kOneHot || battery == Battery::kLastOnly;
    Rewrite(tensor, structure.some_zeros, !MakesTies(battery), rng, data,
            [&] { return Value(battery, rung, size, integer_bound, rng); });
    if (sparse && chosen) KeepFew(battery, tensor, rng, data);
    if (battery == Battery::kNonFinite && chosen) SprinkleNonFinite(tensor, rng, data);
    if (structure.symmetric) MirrorMatrices(tensor, data);
  }

  void Parameter(const TensorSpec& tensor, const TensorStructure& structure,
                 std::byte* data) const {
    if (tensor.elements() == 0) return;
    if (battery == Battery::kIntegers && !MustStay(structure)) {
      Rewrite(tensor, structure.some_zeros, false, rng, data,
              [&] { return Value(battery, rung, 1, integer_bound, rng); });
    } else if (structure.constant) {
      const double before = WithReader(tensor.dtype, [&](auto read) { return read(data, 0); });
      Rewrite(tensor, false, true, rng, data,
              [&] { return before + kParameterSpread * rng.Normal(); });
    }
  }
};

}  // namespace

double IntegerBound(const Task& task) {
  const auto length = static_cast<double>(std::max<std::int64_t>(task.reduction_length, 1));
  return std::clamp(std::floor(std::sqrt(kExactSum / length)), 1.0, kLargestInteger);
}

std::string_view BatteryName(Battery battery) {
  switch (battery) {
    case Battery::kSigned: return "signed";
    case Battery::kWide: return "wide_range";
    case Battery::kHeavyTails: return "heavy_tails";
    case Battery::kIntegers: return "integers";
    case Battery::kOneHot: return "one_hot";
    case Battery::kLastOnly: return "last_only";
    case Battery::kTies: return "ties";
    case Battery::kTiny: return "tiny";
    case Battery::kDenormals: return "denormals";
    case Battery::kZeros: return "zeros";
    case Battery::kNonFinite: return "non_finite";
  }
  return "?";
}

std::string_view BatteryMeaning(Battery battery) {
  switch (battery) {
    case Battery::kSigned: return "normal values of both signs, random values for parameters";
    case Battery::kWide: return "values of both signs whose sizes span many powers of ten";
    case Battery::kHeavyTails: return "values with heavy tails: a few are very large";
    case Battery::kIntegers: return "small integers of both signs";
    case Battery::kOneHot: return "one input with a single non-zero element in each row";
    case Battery::kLastOnly: return "one input with zeros but in its last row and column";
    case Battery::kTies: return "inputs of three distinct values";
    case Battery::kTiny: return "very small values of both signs";
    case Battery::kDenormals: return "denormal inputs";
    case Battery::kZeros: return "inputs of zeros";
    case Battery::kNonFinite: return "inputs with NaN and infinities";
  }
  return "?";
}

bool MakesTies(Battery battery) {
  switch (battery) {
    case Battery::kIntegers:
    case Battery::kOneHot:
    case Battery::kLastOnly:
    case Battery::kTies:
    case Battery::kZeros: return true;
    default: return false;
  }
}

bool MakesEqualTerms(Battery battery) {
  return MakesTies(battery) || battery == Battery::kTiny || battery == Battery::kDenormals;
}

bool ShowsMissingTerms(Battery battery) {
  return battery == Battery::kOneHot || battery == Battery::kLastOnly;
}

std::span<const double> BatteryRungs(Battery battery) {
  static constexpr std::array<double, 3> kWide{1e4, 1e2, 10};
  static constexpr std::array<double, 2> kTails{1e3, 10};
  static constexpr std::array<double, 1> kOne{1};
  switch (battery) {
    case Battery::kWide: return kWide;
    case Battery::kHeavyTails: return kTails;
    default: return kOne;
  }
}

void ApplyBattery(const Task& task, std::span<const TensorStructure> structures, Battery battery,
                  double rung, Rng& rng, std::span<std::byte> packed) {
  const SetLayout layout = PackedLayout(task);
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const TensorSpec& tensor = task.arguments[i];
    if (IsFloating(tensor.dtype) && tensor.role == TensorRole::kInput) inputs.push_back(i);
  }
  const std::size_t chosen = inputs.empty() ? 0 : inputs[rng.Below(inputs.size())];
  const Applying applying{task, battery, rung, rng, IntegerBound(task)};
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const TensorSpec& tensor = task.arguments[i];
    std::byte* data = packed.data() + layout.argument_offsets[i];
    if (!IsFloating(tensor.dtype)) continue;
    if (tensor.role == TensorRole::kInput) applying.Input(tensor, structures[i], i == chosen, data);
    if (tensor.role == TensorRole::kParameter) applying.Parameter(tensor, structures[i], data);
  }
}

}  // namespace pragma
