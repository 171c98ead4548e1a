// EvaluateOn: the order in which a candidate is judged, on any executor: build, secrets, checks,
// times, audit. Everything that a candidate can do wrong becomes part of the evaluation.
#pragma once

#include "base/result.h"
#include "core/candidate.h"
#include "verify/executor.h"
#include "verify/options.h"

namespace pragma {

struct Evaluation;

struct EvaluationWish {
  const Candidate* best = nullptr;  // the present best, which is timed against; nullptr: none
  Measure measure = Measure::kEagerAndCompile;
};

// An Error is pragma's own failure.
[[nodiscard]] Result<Evaluation> EvaluateOn(Executor& executor, const Candidate& candidate,
                                            const EvaluationWish& wish,
                                            const VerifyProgress& progress);

}  // namespace pragma
