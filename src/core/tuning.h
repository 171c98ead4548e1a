// Tuning: what a tuner did with one candidate (docs/tuning.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/status.h"
#include "core/timing.h"

namespace pragma {

// TunedVariant: one variant of a tuned candidate. It was compared on one secret input set and then
// timed, paired with the default. It has no verdict: the chosen variant is judged like any
// candidate.
struct TunedVariant {
  std::map<std::string, std::int64_t> tunables;
  std::vector<std::string> flags;  // flags added to the candidate's own
  Status status = Status::kPassed;
  std::string reason;             // why it failed, or why it was not timed
  std::optional<Interval> ratio;  // time of the default over the variant's time: > 1 is faster
  std::size_t processes = 0;      // number of process pairs behind the ratio
};

// Tuning: what a tuner did with one candidate (docs/tuning.md).
struct Tuning {
  std::vector<TunedVariant> variants;  // variants that were tried, the default first
  std::size_t chosen = 0;              // index into `variants`
  std::size_t combinations = 0;        // number of combinations that the constraints allow
  double seconds = 0;                  // time spent
  double limit_seconds = 0;
  bool complete = false;  // true: no variant was left out for lack of time
  bool recalled = false;  // true: taken from an earlier tuning on this machine
};

}  // namespace pragma
