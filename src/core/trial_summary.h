// TrialSummary: what a list shows of one trial. The store reads it without the trial's source and
// profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/role.h"
#include "core/spent.h"
#include "core/status.h"
#include "core/timing.h"

namespace pragma {

struct Trial;

struct TrialSummary {
  int node = 0;
  int parent = 0;
  Role role = Role::kSeed;
  std::string author;
  Status status = Status::kTaskError;
  std::string reason;  // reason of a failure
  std::optional<Interval> speedup_eager;
  std::optional<Interval> speedup_best;  // against the best at that time, which decided
  std::string bottleneck;  // first bottleneck that the profile names; empty: it names none
  std::string aim;         // aim of its advice, as "bottleneck: change"; empty: there was no advice
  Spent spent;
  bool prepacked = false;
  bool noisy = false;  // other programs disturbed its figures (core/evaluation.h)
  bool best = false;

  [[nodiscard]] bool passed() const { return status == Status::kPassed; }
};

[[nodiscard]] TrialSummary Summarize(const Trial& trial);
[[nodiscard]] std::vector<TrialSummary> Summarize(const std::vector<Trial>& trials);
// Returns the first bottleneck that the profile names, or an empty text.
[[nodiscard]] std::string BottleneckOf(const Trial& trial);
// Returns the trial that was marked best last, or nullptr.
[[nodiscard]] const TrialSummary* BestOf(const std::vector<TrialSummary>& trials);

}  // namespace pragma
