// What holds for every battery, wherever its set lies: which ones a task needs, how outputs are
// judged on it, and when it is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/task.h"
#include "verify/batteries.h"
#include "verify/comparator.h"

namespace pragma {

// What the task's operators make necessary, whatever time there is: kSigned always. All of them
// where the graph is not known.
[[nodiscard]] std::vector<Battery> RequiredBatteries(const Task& task);
// A difference is told and is no reason to reject: how NaN and infinities are treated where the
// operators do not ask for them is a matter of taste.
[[nodiscard]] bool OnlyNoted(const Task& task, Battery battery);

// Batteries that say nothing of tasks that do not need them.
[[nodiscard]] bool OnlyWhereNeeded(Battery battery);

// The numbers that the module's operators are given: thresholds, eps, scales. Not zero.
[[nodiscard]] std::vector<double> ConstantsOf(const Task& task);

// How many input sets it takes to show the module's constants and so many of the kernel's. A row
// shows one constant in one of five ways (python/pragma_torch/batteries.py), and some tasks have
// few rows. At least 1; at most 6, which leaves the unlikeliest constants out.
[[nodiscard]] int ConstantParts(const Task& task, std::size_t of_kernel);

// Why the task gives a battery no meaning; empty: it does.
[[nodiscard]] std::string LeftOut(const Task& task, Battery battery);

// What is known of one output of a battery's set before any kernel runs.
struct TorchStanding {
  bool finite = true;            // the truth and Torch's own result, everywhere
  bool finite_somewhere = true;  // the truth
  bool fits = true;              // Torch's own result is within the tolerance
  double peak_over_rms = 1;      // of the truth
  double rms = 1;                // of the truth
  double nominal_rms = 1;        // of that of the task's own inputs
  Tolerance tolerance;           // derived from Torch's own error
};
// Why nobody can be held against the truth; empty: they can. Floating outputs only.
[[nodiscard]] std::string ComplaintOf(const TensorSpec& spec, Battery battery,
                                      const TorchStanding& torch);
[[nodiscard]] Tolerance BatteryTolerance(const Task& task, Battery battery,
                                         const TorchStanding& torch);
// Whether elements are sums of several terms.
[[nodiscard]] bool AddsUp(const Task& task);
[[nodiscard]] bool SpansRange(Battery battery);
// A battery with large values beside small ones, whose digits algorithms that mix neighbours
// (Winograd's, Strassen's) lose, or with terms that are far larger than what is left of them:
// honest kernels may be wrong in small values there.
[[nodiscard]] bool MixesSizes(Battery battery);
// Only where the index that is meant among equal elements is documented: the first.
[[nodiscard]] bool TiesAreDecided(const Task& task);
enum class TermsOf : std::uint8_t { kRandomValues, kEqualValues };
// Relative size of what a running sum in fp32 does to its terms: eps / 2 for each rounding, and
// random ones grow with the square root of their number. Equal terms are rounded the same way again
// and again (verify/comparator.h).
[[nodiscard]] double RoundingSize(const Task& task, TermsOf terms);

}  // namespace pragma
