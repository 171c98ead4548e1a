// What a verification is asked to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "verify/stage.h"

namespace pragma {

// Of one attempt of many: what was not checked then is checked when the best is judged again.
inline constexpr Seconds kQuickBatteryBudget{0.6};

enum class CheckMode : std::uint8_t { kStrict, kOfficial };
enum class Measure : std::uint8_t {
  kNothing,          // checks only
  kEager,            // against eager, and the present best when one is given
  kEagerAndCompile,  // and torch.compile: for the first passed candidate and the final best
  kDropIn,  // against eager with the allocator's defaults: speedup_eager is the drop-in figure
};

[[nodiscard]] constexpr Measure MeasureWith(bool compile_baseline) {
  return compile_baseline ? Measure::kEagerAndCompile : Measure::kEager;
}

struct VerifyOptions {
  CheckMode mode = CheckMode::kStrict;
  CacheState cache = CacheState::kWarm;
  int check_sets = 5;
  // Aim for the batteries that the task's operators do not ask for, whose references may be slow.
  // Those that they do ask for are run whatever time it takes, and four in any case.
  Seconds battery_budget{60};
  bool strict_nan = false;     // a NaN that does not end up where Torch has it is a wrong value
  Seconds state_budget{0.3};   // aim for calls that look for state; a third where none can live
  Seconds run_limit{60};       // of one call of the kernel
  Seconds timing_budget{1.0};  // aim for the timed part; at least five process pairs are run
  std::size_t memory_allowance_bytes = std::size_t{2} << 30U;  // of a worker, above its ring
  std::string shapes;  // JSON of further shapes (task/shapes.h); empty: as the task is written
  std::optional<Seed> seed;  // recheck and replay only; otherwise drawn after the build
};

using VerifyProgress = std::function<void(std::string_view phase)>;  // "check 3/5", "time 2/5"

}  // namespace pragma
