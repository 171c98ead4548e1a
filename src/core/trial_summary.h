// TrialSummary: what a list of trials shows of one. The store reads it without the trial's source
// and profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/trial.h"

namespace pragma {

struct TrialSummary {
  int node = 0;
  int parent = 0;
  Role role = Role::kSeed;
  std::string author;
  Status status = Status::kTaskError;
  std::string reason;  // of a failure
  std::optional<Interval> speedup_eager;
  std::string bottleneck;  // the first that the profile names; empty: there is none
  std::string aim;         // of its advice: "bottleneck: change"; empty: there was none
  Spent spent;
  bool best = false;

  [[nodiscard]] bool passed() const { return status == Status::kPassed; }
};

[[nodiscard]] TrialSummary Summarize(const Trial& trial);
[[nodiscard]] std::vector<TrialSummary> Summarize(const std::vector<Trial>& trials);
// The first bottleneck that the profile names; empty: there is none.
[[nodiscard]] std::string BottleneckOf(const Trial& trial);
// The trial that was last marked best, or nullptr.
[[nodiscard]] const TrialSummary* BestOf(const std::vector<TrialSummary>& trials);

}  // namespace pragma
