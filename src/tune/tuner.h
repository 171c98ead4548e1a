// Tuner: finds the fastest variant of a candidate with tunables on this machine (docs/tuning.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/tuning.h"
#include "tune/space.h"
#include "tune/variant_bench.h"

namespace pragma {

struct TunerOptions {
  // The time limit for everything. It is exceeded only because the default is built and checked in
  // any case. Waiting until other processes have finished timing does not count.
  Seconds limit{20};
  std::size_t most_variants = 64;  // if there are more, a sample is taken
  int build_threads = 1;
};

using TunerProgress = std::function<void(std::string_view phase)>;  // "tune: built 3/12"

// Builds and checks variants, times them against the default by successive halving, and returns
// which one is best. The order of variants depends only on the candidate's id. `bench` must be
// fresh. If the default itself fails, no other variant is tried and `variants` holds only the
// default. An error means that our own machinery failed.
[[nodiscard]] Result<Tuning> Tune(VariantBench& bench, const Candidate& candidate,
                                  const TuneSpace& space, const TunerOptions& options,
                                  const TunerProgress& progress);

// Returns the candidate that a tuning chose, which is `candidate` itself if the default is best.
[[nodiscard]] Candidate ChosenBy(const Tuning& tuning, const Candidate& candidate);

// Says in one line what was chosen and why.
[[nodiscard]] std::string TuningSummary(const Tuning& tuning);

}  // namespace pragma
