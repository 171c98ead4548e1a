#include "core/trial_summary.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

#include "core/advice.h"
#include "core/evaluation.h"
#include "core/trial.h"

namespace pragma {
namespace {

std::string AimOf(const Advice& advice) {
  return advice.bottleneck.empty() ? advice.change : advice.bottleneck + ": " + advice.change;
}

}  // namespace

TrialSummary Summarize(const Trial& trial) {
  return {.node = trial.node,
          .parent = trial.parent,
          .role = trial.role,
          .author = trial.author,
          .status = trial.evaluation.status,
          .reason = trial.evaluation.reason,
          .speedup_eager = trial.evaluation.speedup_eager,
          .speedup_best = trial.evaluation.speedup_best,
          .bottleneck = BottleneckOf(trial),
          .aim = trial.advice ? AimOf(*trial.advice) : "",
          .spent = trial.spent,
          .prepacked = trial.evaluation.prepacked,
          .noisy = !trial.evaluation.noisy.empty(),
          .best = trial.best};
}

std::vector<TrialSummary> Summarize(const std::vector<Trial>& trials) {
  std::vector<TrialSummary> summaries;
  summaries.reserve(trials.size());
  for (const Trial& trial : trials) summaries.push_back(Summarize(trial));
  return summaries;
}

std::string BottleneckOf(const Trial& trial) {
  if (!trial.profile || trial.profile->diagnosis.empty()) return "";
  return trial.profile->diagnosis.front().bottleneck;
}

const TrialSummary* BestOf(const std::vector<TrialSummary>& trials) {
  const auto newest_first = trials | std::views::reverse;
  const auto found = std::ranges::find_if(newest_first, &TrialSummary::best);
  return found == newest_first.end() ? nullptr : &*found;
}

}  // namespace pragma
