// Tuning: a candidate is judged as its variant that is fastest on this machine
// (docs/tuning.md).
#pragma once

#include <string>

#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/result.h"
#include "core/candidate.h"
#include "verify/verifier.h"

namespace pragma {

struct Evaluation;

struct TuneChoice {
  Seconds limit{0};    // limit for one candidate; 0: nothing is tuned
  bool again = false;  // do not use what an earlier tuning on this machine found
};

// What the caller asked for.
struct TuneWish {
  std::string limit;  // duration, checked before; empty: nothing is tuned
  bool again = false;
  [[nodiscard]] TuneChoice choice() const;
};

struct TunedMeasure {
  const Candidate* best = nullptr;  // the current best, as for Verifier::Evaluate
  Measure measure = Measure::kEager;
  TuneChoice tune;
};

// Tunes `candidate`, replaces it by the chosen variant, and returns TaskBench::Evaluate of that. A
// candidate without tunables, or whose tunables were chosen before, stays as it is. A wrong
// declaration of tunables in its source rejects it.
[[nodiscard]] Result<Evaluation> EvaluateTuned(Workbench& bench, TaskBench& task,
                                               Candidate& candidate, const TunedMeasure& how,
                                               const Verifier::Progress& progress);

}  // namespace pragma
