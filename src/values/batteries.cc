#include "values/batteries.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/task.h"

namespace pragma {
namespace {

// Limit for sums of integer products. It is well below 2^24, where fp32 stops being exact.
constexpr double kExactSum = 4194304;  // 2^22
constexpr double kLargestInteger = 64;

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
    case Battery::kNegative: return "negative";
    case Battery::kPositive: return "positive";
    case Battery::kFarBelow: return "far_below";
    case Battery::kFarAbove: return "far_above";
    case Battery::kExtremelyBelow: return "extremely_below";
    case Battery::kExtremelyAbove: return "extremely_above";
    case Battery::kOffset1e3: return "offset_1e3";
    case Battery::kOffset1e5: return "offset_1e5";
    case Battery::kOffsetRows: return "offset_rows";
    case Battery::kAscending: return "ascending";
    case Battery::kDescending: return "descending";
    case Battery::kValley: return "valley";
    case Battery::kPeriodic: return "periodic";
    case Battery::kLimitRows: return "limit_rows";
    case Battery::kLimitEntries: return "limit_entries";
    case Battery::kRepeatedIndices: return "repeated_indices";
    case Battery::kPartlyChanged: return "partly_changed";
    case Battery::kOutlier: return "outlier";
    case Battery::kAlternating: return "alternating";
    case Battery::kConstantRows: return "constant_rows";
    case Battery::kConstantColumns: return "constant_columns";
    case Battery::kPermutedRows: return "permuted_rows";
    case Battery::kPositiveOutlier: return "positive_outlier";
    case Battery::kConstants: return "constants";
    case Battery::kMasked: return "masked";
    case Battery::kMaskedRows: return "masked_rows";
    case Battery::kInfinities: return "infinities";
    case Battery::kNan: return "nan";
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
    case Battery::kNegative: return "negative values only";
    case Battery::kPositive: return "positive values only";
    case Battery::kFarBelow: return "values that are all far below zero";
    case Battery::kFarAbove: return "values that are all far above zero";
    case Battery::kExtremelyBelow: return "values that are all as low as the type has them";
    case Battery::kExtremelyAbove: return "values that are all as high as the type has them";
    case Battery::kOffset1e3: return "values that lie a thousand times their spread from zero";
    case Battery::kOffset1e5:
      return "values that lie a hundred thousand times their spread from zero";
    case Battery::kOffsetRows: return "rows that lie far apart";
    case Battery::kAscending: return "ascending values";
    case Battery::kDescending: return "descending values";
    case Battery::kValley: return "rows that fall and then rise";
    case Battery::kPeriodic: return "rows with peaks at equal distances";
    case Battery::kLimitRows:
      return "rows of nothing but the type's least or greatest finite number";
    case Battery::kLimitEntries:
      return "rows with the type's least and greatest finite number among normal values";
    case Battery::kPartlyChanged:
      return "inputs of which only the ends of rows are new, where the last call's results still "
             "lie";
    case Battery::kRepeatedIndices: return "indices that come more than once";
    case Battery::kOutlier: return "rows with one element that is far larger than the others";
    case Battery::kAlternating: return "values whose signs alternate";
    case Battery::kConstantRows: return "rows of one value each";
    case Battery::kConstantColumns: return "rows that are all equal";
    case Battery::kPermutedRows: return "rows that hold the same values in another order";
    case Battery::kPositiveOutlier:
      return "positive values with one element in each row that is far larger";
    case Battery::kConstants:
      return "values equal or near to constants of the module and of the kernel";
    case Battery::kMasked: return "an input whose elements are -inf in random places";
    case Battery::kMaskedRows: return "an input of which whole rows are -inf";
    case Battery::kInfinities: return "an input with a few +inf";
    case Battery::kNan: return "an input with a NaN in each row";
  }
  return "?";
}

bool MakesTies(Battery battery) {
  switch (battery) {
    case Battery::kIntegers:
    case Battery::kOneHot:
    case Battery::kLastOnly:
    case Battery::kDenormals:  // few different numbers, which rounding does not change
    case Battery::kTies:
    case Battery::kZeros:
    case Battery::kLimitRows:
    case Battery::kLimitEntries:
    case Battery::kConstantRows:
    case Battery::kConstantColumns:
    case Battery::kPermutedRows:
    case Battery::kConstants:
    case Battery::kMasked:
    case Battery::kMaskedRows:
    case Battery::kInfinities: return true;
    default: return false;
  }
}

bool MakesEqualTerms(Battery battery) {
  switch (battery) {
    case Battery::kTiny:
    case Battery::kOffset1e3:
    case Battery::kOffset1e5:
    case Battery::kOffsetRows:
    case Battery::kAlternating: return true;
    default: return MakesTies(battery);
  }
}

bool ShowsMissingTerms(Battery battery) {
  return battery == Battery::kOneHot || battery == Battery::kLastOnly;
}

bool MayBeNonFinite(Battery battery) {
  return battery == Battery::kMasked || battery == Battery::kMaskedRows ||
         battery == Battery::kInfinities || battery == Battery::kNan;
}

// Batteries of one sign go up to four times the rung (far) or ten thousand times the rung
// (extremely). The narrower ranges fit the 16-bit types.
std::span<const double> BatteryRungs(Battery battery) {
  static constexpr std::array<double, 3> kWide{1e4, 1e2, 10};
  static constexpr std::array<double, 3> kFurthest{1e20, 1e8, 1e3};
  static constexpr std::array<double, 4> kLargestConstant{1e15, 1e4, 50, 5};
  static constexpr std::array<double, 2> kTails{1e3, 10};
  static constexpr std::array<double, 2> kSteep{100, 1};
  static constexpr std::array<double, 3> kFar{1e6, 1.4e4, 1e2};
  static constexpr std::array<double, 4> kExtreme{1e31, 1e18, 1e9, 1e5};
  static constexpr std::array<double, 1> kThousand{1e3};
  static constexpr std::array<double, 1> kHundredThousand{1e5};
  static constexpr std::array<double, 1> kOne{1};
  switch (battery) {
    case Battery::kWide:
    case Battery::kOutlier: return kWide;
    case Battery::kPositiveOutlier: return kFurthest;
    case Battery::kConstants: return kLargestConstant;
    case Battery::kHeavyTails: return kTails;
    case Battery::kAscending:
    case Battery::kDescending:
    case Battery::kValley: return kSteep;
    case Battery::kFarBelow:
    case Battery::kFarAbove: return kFar;
    case Battery::kExtremelyBelow:
    case Battery::kExtremelyAbove: return kExtreme;
    case Battery::kOffset1e3:
    case Battery::kOffsetRows: return kThousand;
    case Battery::kOffset1e5: return kHundredThousand;
    default: return kOne;
  }
}

}  // namespace pragma
