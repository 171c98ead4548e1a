// Batteries: input sets that bring out what the task's own distribution may hide. A kernel that
// takes a short cut which only the nominal values allow (an identity for ReLU on [0, 1), a dropped
// tail below the tolerance, a bias that is always zero) fails one of them (docs/trust.md). What
// they are and when they count is said here; their values are made where sets are
// (python/pragma_torch/batteries.py).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/task.h"

namespace pragma {

enum class Battery : std::uint8_t {
  kSigned,      // normal values of both signs, of the nominal size
  kWide,        // magnitudes over many powers of ten
  kHeavyTails,  // Cauchy: a few values dominate
  kIntegers,    // small integers: sums of products are exact in any order
  kOneHot,      // one input has a single non-zero element in each row
  kLastOnly,    // one input is zero but for its last row and last column
  kTies,        // three values only
  kTiny,        // as kSigned, a hundred thousand times smaller
  kDenormals,   // below the smallest normal number
  kZeros,
  // By sign: whatever a maximum or minimum is begun with must not win.
  kNegative,        // of the nominal size
  kPositive,        // likewise
  kFarBelow,        // all below -1e6
  kFarAbove,        // all above 1e6
  kExtremelyBelow,  // all below -1e30
  kExtremelyAbove,  // all above 1e30
  // Normal values of the nominal spread, and a common offset of so many times the spread.
  kOffset1e3,
  kOffset1e5,
  kOffsetRows,  // an offset of its own for each row, of a thousand times the spread
  // By order and place.
  kAscending,  // along each dimension
  kDescending,
  kValley,           // each row falls, then rises above where it began
  kPeriodic,         // peaks at equal distances, as the lanes of a vector have them
  kLimitRows,        // rows of nothing but the type's least or greatest finite number
  kLimitEntries,     // one of each in every row
  kOutlier,          // one element of each row is far larger
  kAlternating,      // neighbours differ in sign, and hardly in size
  kConstantRows,     // equal along the last dimension
  kConstantColumns,  // equal along the others
  kPermutedRows,     // each holds the values of the first in another order, its ends unmoved
  kPositiveOutlier,  // positive values, and in each row one that is larger by many powers of ten
  kConstants,        // values equal and near to the constants of the graph and of the kernel's code
  kPartlyChanged,  // the drawn set, but for the ends of its rows: only for what calls leave behind
  kRepeatedIndices,  // integer inputs of their own values, drawn again with repetition
  // Some values are not finite.
  kMasked,      // a quarter of one input is -inf, never a whole row
  kMaskedRows,  // the same, and whole rows
  kInfinities,  // a few +inf in one input; noted, never a reason to reject
  kNan,         // one NaN in each row of one input; noted, unless it is asked for
};

inline constexpr std::array kAllBatteries{Battery::kSigned,
                                          Battery::kWide,
                                          Battery::kHeavyTails,
                                          Battery::kIntegers,
                                          Battery::kOneHot,
                                          Battery::kLastOnly,
                                          Battery::kTies,
                                          Battery::kTiny,
                                          Battery::kDenormals,
                                          Battery::kZeros,
                                          Battery::kNegative,
                                          Battery::kPositive,
                                          Battery::kFarBelow,
                                          Battery::kFarAbove,
                                          Battery::kExtremelyBelow,
                                          Battery::kExtremelyAbove,
                                          Battery::kOffset1e3,
                                          Battery::kOffset1e5,
                                          Battery::kOffsetRows,
                                          Battery::kAscending,
                                          Battery::kDescending,
                                          Battery::kValley,
                                          Battery::kPeriodic,
                                          Battery::kLimitRows,
                                          Battery::kLimitEntries,
                                          Battery::kOutlier,
                                          Battery::kAlternating,
                                          Battery::kConstantRows,
                                          Battery::kConstantColumns,
                                          Battery::kPermutedRows,
                                          Battery::kPositiveOutlier,
                                          Battery::kConstants,
                                          Battery::kRepeatedIndices,
                                          Battery::kMasked,
                                          Battery::kMaskedRows,
                                          Battery::kInfinities,
                                          Battery::kNan};

// A battery that is asked for.
struct BatteryWish {
  Battery battery = Battery::kSigned;
  int draw = -1;      // the drawn set that is rewritten; -1: any
  int argument = -1;  // the input that a battery of one input is about; -1: any
  std::span<const double> constants = {};  // of the kernel's code; the caller owns them
  int part = 0;  // of the constants' sets: each shows other constants, as a set has few rows
};

[[nodiscard]] std::string_view BatteryName(Battery battery);     // "signed", "wide_range", ...
[[nodiscard]] std::string_view BatteryMeaning(Battery battery);  // for reasons: "normal values ..."

// The largest integers of kIntegers: sums of products of as many as the task adds up stay exact.
[[nodiscard]] double IntegerBound(const Task& task);

// A battery that makes equal elements: which of them an index points to is then a matter of taste.
[[nodiscard]] bool MakesTies(Battery battery);

// A battery on which the terms of a sum may be (nearly) equal: ties, and values so small that every
// smooth function of them is constant.
[[nodiscard]] bool MakesEqualTerms(Battery battery);

// A battery that shows whether each term counts, by inputs of nearly nothing but zeros. To be less
// exact there gains nobody anything; a term left out is wrong by as much as the output.
[[nodiscard]] bool ShowsMissingTerms(Battery battery);

// A battery with infinities or NaN among its values: its truth need not be finite everywhere.
[[nodiscard]] bool MayBeNonFinite(Battery battery);

// How far a battery goes: tried from the first on until the reference stays finite.
[[nodiscard]] std::span<const double> BatteryRungs(Battery battery);

}  // namespace pragma
