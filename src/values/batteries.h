// Batteries: input sets that reveal what the task's own distribution may hide. A kernel may take a
// shortcut that only the nominal values allow, such as an identity for ReLU on [0, 1), a dropped
// tail below the tolerance, or a bias that is always zero. Such a kernel fails one of the batteries
// (docs/trust.md). This file says what the batteries are and when they count. Their values are made
// where all sets are made (python/pragma_torch/batteries.py).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/task.h"

namespace pragma {

enum class Battery : std::uint8_t {
  kSigned,      // normal values of both signs and of the nominal size
  kWide,        // magnitudes over many powers of ten
  kHeavyTails,  // Cauchy: a few values dominate
  kIntegers,    // small integers: sums of products are exact in any order
  kOneHot,      // one input has a single non-zero element in each row
  kLastOnly,    // one input is zero but for its last row and last column
  kTies,        // only three distinct values
  kTiny,        // as kSigned, but a hundred thousand times smaller
  kDenormals,   // magnitudes below the smallest normal number
  kZeros,
  // Batteries by sign: the value with which a maximum or minimum is initialised must not win.
  kNegative,        // all negative, of the nominal size
  kPositive,        // all positive, of the nominal size
  kFarBelow,        // all below -1e6
  kFarAbove,        // all above 1e6
  kExtremelyBelow,  // all below -1e30
  kExtremelyAbove,  // all above 1e30
  // Normal values of the nominal spread plus a common offset: 1e3 or 1e5 times the spread.
  kOffset1e3,
  kOffset1e5,
  kOffsetRows,  // a separate offset for each row, of a thousand times the spread
  // Batteries by order and position.
  kAscending,  // rising along each dimension
  kDescending,
  kValley,           // each row falls, then rises above its first value
  kPeriodic,         // peaks at equal distances, like the lanes of a vector
  kLimitRows,        // rows that hold only the type's least or greatest finite number
  kLimitEntries,     // every row holds the least and the greatest finite number once
  kOutlier,          // one element of each row is far larger
  kAlternating,      // neighbours differ in sign, but hardly in magnitude
  kConstantRows,     // values equal along the last dimension
  kConstantColumns,  // values equal along all other dimensions
  kPermutedRows,  // each row holds the first row's values in another order, with its ends unmoved
  kPositiveOutlier,  // positive values, with one in each row that is larger by many powers of ten
  kConstants,        // values equal or close to constants of the graph and of the kernel's code
  kPartlyChanged,  // the drawn set with changed row ends: only for tests of what calls leave behind
  kRepeatedIndices,  // integer inputs redrawn from their own values, with repetition
  // Batteries with some values that are not finite.
  kMasked,      // a quarter of one input is -inf, never a whole row
  kMaskedRows,  // the same, and also whole rows
  kInfinities,  // a few +inf in one input; only noted, never a reason to reject
  kNan,         // one NaN in each row of one input; only noted, unless strict_nan is set
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

// A request for one battery.
struct BatteryWish {
  Battery battery = Battery::kSigned;
  int draw = -1;      // index of the drawn set that is rewritten; -1: any
  int argument = -1;  // index of the input, for a battery that changes one input; -1: any
  std::span<const double> constants = {};  // constants of the kernel's code; the caller owns them
  // Number of the input set, for kConstants: a set has few rows, and each row shows one constant.
  int part = 0;
};

[[nodiscard]] std::string_view BatteryName(Battery battery);     // "signed", "wide_range", ...
[[nodiscard]] std::string_view BatteryMeaning(Battery battery);  // in reasons: "normal values ..."

// Returns the largest integer of kIntegers. It is small enough that sums of products stay exact for
// as many terms as the task adds up.
[[nodiscard]] double IntegerBound(const Task& task);

// True for a battery that makes equal elements. Which of them an index points to is then not
// defined.
[[nodiscard]] bool MakesTies(Battery battery);

// True for a battery on which the terms of a sum may be (nearly) equal. This holds for ties, and
// for values so small that every smooth function of them is constant.
[[nodiscard]] bool MakesEqualTerms(Battery battery);

// True for a battery that shows whether each term counts, with inputs that are almost all zero. A
// kernel gains nothing by being less exact there, and a missing term is an error as large as the
// output.
[[nodiscard]] bool ShowsMissingTerms(Battery battery);

// True for a battery with infinities or NaN among its values. The reference's result (the truth)
// need not be finite everywhere on it.
[[nodiscard]] bool MayBeNonFinite(Battery battery);

// Returns the magnitudes (rungs) of a battery. They are tried in this order until the reference
// stays finite.
[[nodiscard]] std::span<const double> BatteryRungs(Battery battery);

}  // namespace pragma
