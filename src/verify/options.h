// The options of a verification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/random.h"
#include "core/judging.h"

namespace pragma {

// Battery budget for one of many attempts. What is not checked then is checked when the best is
// judged again.
inline constexpr Seconds kQuickBatteryBudget{0.6};

enum class Measure : std::uint8_t {
  kNothing,          // checks only
  kEager,            // against eager, and against the present best when one is given
  kEagerAndCompile,  // also against torch.compile: for the first passed candidate and the final
                     // best
  kCall,  // of ModelNew only: calls as a user makes them, against eager (Evaluation::call)
  kCallAndCompile,  // the same, against torch.compile as well
};

[[nodiscard]] constexpr bool MeasuresCall(Measure measure) {
  return measure == Measure::kCall || measure == Measure::kCallAndCompile;
}
[[nodiscard]] constexpr bool MeasuresCompile(Measure measure) {
  return measure == Measure::kEagerAndCompile || measure == Measure::kCallAndCompile;
}
[[nodiscard]] constexpr Measure MeasureWith(bool compile_baseline) {
  return compile_baseline ? Measure::kEagerAndCompile : Measure::kEager;
}

// How exact a time must be.
enum class Precision : std::uint8_t {
  kFull,
  kRough,      // three process pairs, and eager under one allocator setting: for a first choice
  kUnaudited,  // as rough, and without audits: for a profile, which does not judge the speed
};

struct VerifyOptions {
  JudgingOptions judging;
  int check_sets = 5;
  // Target time for the batteries that the task's operators do not require, whose references may be
  // slow. Required batteries are run no matter how long they take, and four batteries are run in
  // any case.
  Seconds battery_budget{60};
  // Target time for calls that look for state. A third of it is used where no state can exist.
  Seconds state_budget{0.3};
  // Everything becomes shorter as it comes closer: fewer input sets, optional batteries and process
  // pairs, no search for eager's faster allocator setting, no torch.compile. The evaluation says
  // what was left out.
  Deadline deadline;
  Precision precision = Precision::kFull;
  Seconds timing_budget{1.0};  // target for the timed part; at least five process pairs run
  std::size_t memory_allowance_bytes = std::size_t{2} << 30U;  // memory of a worker beyond its ring
  std::optional<Seed> seed;  // for recheck and replay only; otherwise drawn after the build
};

using VerifyProgress = std::function<void(std::string_view phase)>;  // "check 3/5", "time 2/5"

}  // namespace pragma
