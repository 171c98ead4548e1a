// CallFigures: what a user gains who calls ModelNew instead of Model from Python
// (docs/measuring.md).
#pragma once

#include <optional>
#include <string>

#include "core/timing.h"

namespace pragma {

// One session: calls of ModelNew beside calls of the faster Torch side.
struct CallSession {
  Interval speedup;  // time of the baseline over that of ModelNew; above 1, ModelNew is faster
  Timing timing;     // of ModelNew
  Timing baseline;
  double page_faults = 0;  // of one call of ModelNew, on average; those that need no disk
  double baseline_page_faults = 0;
};

struct CallFigures {
  std::string over;  // the faster Torch side: "eager" or "torch.compile"
  CallSession kept;  // malloc keeps freed memory, as in a program that has run for a while
  // With malloc's defaults. Present only where its speedup differs by more than a tenth.
  std::optional<CallSession> defaults;
  std::string trust;  // Environment::trust of that process, where kernel and Python share memory
};

// Tells whether the two speedups differ by more than a tenth.
[[nodiscard]] constexpr bool DifferNotably(double a, double b) {
  return a > 1.1 * b || b > 1.1 * a;
}

}  // namespace pragma
