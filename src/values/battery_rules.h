// The rules that hold for every battery, no matter which memory its set is in: which batteries a
// task needs, how outputs are judged on a battery, and when a battery is left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/task.h"
#include "values/batteries.h"
#include "values/comparator.h"

namespace pragma {

// Returns the batteries that the task's operators require, no matter how long they take. kSigned is
// always required. All batteries are required where the graph is not known.
[[nodiscard]] std::vector<Battery> RequiredBatteries(const Task& task);
// True if a difference on this battery is reported but is not a reason to reject. How NaN and
// infinities are treated is not defined where the operators do not require it.
[[nodiscard]] bool OnlyNoted(const Task& task, Battery battery);

// True for batteries that say nothing about tasks that do not need them.
[[nodiscard]] bool OnlyWhereNeeded(Battery battery);

// Returns the magnitudes of a battery for this task, the largest first. A standard deviation of the
// largest numbers that a type has is finite in Torch, which adds up their squares in double
// precision. A kernel may add them up in single precision, so the numbers are smaller there.
[[nodiscard]] std::span<const double> RungsFor(const Task& task, Battery battery);

// Returns the numbers that the module's operators are given, such as thresholds, eps and scales.
// Zero is left out.
[[nodiscard]] std::vector<double> ConstantsOf(const Task& task);

// Returns how many input sets it takes to show the module's constants and `of_kernel` constants of
// the kernel. A row shows one constant in one of five ways (python/pragma_torch/batteries.py), and
// some tasks have few rows. The result is 1 to 6. At 6 the least likely constants are left out.
[[nodiscard]] int ConstantParts(const Task& task, std::size_t of_kernel);

// Returns why a battery has no meaning for the task. Empty: it has one.
[[nodiscard]] std::string LeftOut(const Task& task, Battery battery);

// What is known about one output on a battery's set before any kernel runs. The truth is the fp64
// reference; Torch's own result is the one in the task's precision.
struct TorchStanding {
  bool finite = true;            // the truth and Torch's own result are finite everywhere
  bool finite_somewhere = true;  // the truth is finite in at least one element
  bool fits = true;              // Torch's own result is within the tolerance
  double peak_over_rms = 1;      // largest size of the truth over its root mean square
  double rms = 1;                // root mean square of the truth
  double nominal_rms = 1;        // root mean square of the truth on the task's own inputs
  Tolerance tolerance;           // tolerance derived from Torch's own error
};
// Returns why no kernel can be judged against the truth. Empty: kernels can. For floating outputs
// only.
[[nodiscard]] std::string ComplaintOf(const TensorSpec& spec, Battery battery,
                                      const TorchStanding& torch);
[[nodiscard]] Tolerance BatteryTolerance(const Task& task, Battery battery,
                                         const TorchStanding& torch);
// True if elements of the result are sums of several terms.
[[nodiscard]] bool AddsUp(const Task& task);
[[nodiscard]] bool SpansRange(Battery battery);
// True for a battery on which honest kernels may be wrong in small values. Either it has large
// values next to small ones, and algorithms that mix neighbours (Winograd's, Strassen's) lose the
// digits of the small ones. Or its terms are far larger than what remains of their sum.
[[nodiscard]] bool MixesSizes(Battery battery);
// False if an integer output may hold an index and it is not documented which of several equal
// elements it means. Where it is documented, the first is meant.
[[nodiscard]] bool TiesAreDecided(const Task& task);
// Returns whether an operator finds the places of elements, so that equal elements may be taken in
// any order. What is done with the places then differs, in floating outputs as well.
[[nodiscard]] bool ChoosesAmongEquals(const Task& task);
// Returns whether an output that is wrong may be so in a few elements only, where the truth jumps.
// Where an operator chooses among equal elements, each choice that a few changed copies of the
// inputs do not explain looks like a large error.
[[nodiscard]] bool MayBeJumps(const Task& task, const Comparison& compared);
enum class TermsOf : std::uint8_t { kRandomValues, kEqualValues };
// Returns the relative size of the error that a running sum in fp32 adds to its terms: eps / 2 for
// each rounding. Random roundings grow with the square root of their number. Equal terms are
// rounded in the same way again and again (values/comparator.h).
[[nodiscard]] double RoundingSize(const Task& task, TermsOf terms);

}  // namespace pragma
