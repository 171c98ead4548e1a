// Batteries: input sets that bring out what the task's own distribution may hide. A kernel that
// takes a short cut which only the nominal values allow (an identity for ReLU on [0, 1), a dropped
// tail below the tolerance, a bias that is always zero) fails one of them (docs/trust.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/random.h"
#include "core/task.h"
#include "verify/structure.h"

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
  kNonFinite,  // a few NaN and infinities; noted, never a reason to reject
};

inline constexpr std::array kAllBatteries{
    Battery::kSigned,    Battery::kWide,     Battery::kHeavyTails, Battery::kIntegers,
    Battery::kOneHot,    Battery::kLastOnly, Battery::kTies,       Battery::kTiny,
    Battery::kDenormals, Battery::kZeros,    Battery::kNonFinite};

[[nodiscard]] std::string_view BatteryName(Battery battery);     // "signed", "wide", ...
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

// How far a battery goes: tried from the first on until the reference stays finite.
[[nodiscard]] std::span<const double> BatteryRungs(Battery battery);

// Rewrites a drawn set (in PackedLayout(task)). Inputs get the battery's values; parameters that
// are constant as constructed (ones, zeros) get random ones, others stay as drawn, except that
// kIntegers makes integers of all. What a kernel may rely on stays: zeros at fixed places of an
// otherwise random tensor (triangles, masks), symmetry, rows that sum to one, tensors of few
// distinct values, integer tensors, buffers, constants, tensors that hold infinities.
// `structures`: DetectStructures of a drawn set; `rung`: one of BatteryRungs(battery).
void ApplyBattery(const Task& task, std::span<const TensorStructure> structures, Battery battery,
                  double rung, Rng& rng, std::span<std::byte> packed);

}  // namespace pragma
