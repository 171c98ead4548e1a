// Tuner: a candidate with tunables to its fastest variant on this machine (docs/tuning.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "tune/space.h"
#include "verify/variant_bench.h"

namespace pragma {

struct TunerOptions {
  // For everything; never more, except that the default is built and checked in any case. Waiting
  // for others to be done with timing does not count.
  Seconds limit{20};
  std::size_t most_variants = 64;  // a sample of them where there are more
  int build_threads = 1;
};

using TunerProgress = std::function<void(std::string_view phase)>;  // "tune: built 3/12"

// Builds and checks variants, times them against the default by successive halving, and says which
// is best. The order of variants follows from the candidate's id alone. `bench` is fresh. Where the
// default itself fails nothing else is tried: `variants` has that one alone. Errors only for our
// own trouble.
[[nodiscard]] Result<Tuning> Tune(VariantBench& bench, const Candidate& candidate,
                                  const TuneSpace& space, const TunerOptions& options,
                                  const TunerProgress& progress);

// The candidate that a tuning chose: the candidate itself where the default is best.
[[nodiscard]] Candidate ChosenBy(const Tuning& tuning, const Candidate& candidate);

// One line: what was chosen and why.
[[nodiscard]] std::string TuningSummary(const Tuning& tuning);

}  // namespace pragma
