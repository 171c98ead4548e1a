#include "search/stopping.h"

#include "base/clock.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "search/session.h"
#include "search/strategy.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

// A profile takes a few seconds, whatever the kernel.
constexpr Seconds kLeastForProfile{15};

bool AtRoofline(const Trial* best) {
  if (best == nullptr) return false;
  const Evaluation& evaluation = best->evaluation;
  if (!evaluation.timing || !evaluation.lower_bound_ms) return false;
  return evaluation.timing->ms.median <= *evaluation.lower_bound_ms * (1 + kRooflineMargin);
}

bool BudgetSpent(const SearchTree& tree, const Spent& spent, const Budget& budget) {
  return tree.next_node() > budget.attempts ||
         (budget.seconds > 0 && spent.seconds >= budget.seconds) ||
         (budget.tokens > 0 && spent.tokens() >= budget.tokens) ||
         (budget.usd > 0 && spent.usd >= budget.usd);
}

bool Stalled(const SearchTree& tree, const Trial* best, const Preset& preset) {
  const int last_gain = best == nullptr ? 0 : best->node;
  return preset.stall_attempts > 0 && tree.next_node() - 1 - last_gain >= preset.stall_attempts;
}

}  // namespace

bool BecomesBest(const Evaluation& evaluation, const Trial* best) {
  if (!evaluation.passed()) return false;
  if (best == nullptr) return true;
  if (evaluation.prepacked && !best->evaluation.prepacked) return false;
  return evaluation.speedup_best && evaluation.speedup_best->low > 1 + kMinimumEffect;
}

StopReason WhyStopped(const SearchTree& tree, const Spent& spent, const Preset& preset,
                      const Budget& budget) {
  const Trial* best = tree.best();
  if (AtRoofline(best)) return StopReason::kRoofline;
  if (BudgetSpent(tree, spent, budget)) return StopReason::kBudget;
  if (Stalled(tree, best, preset)) return StopReason::kStall;
  return StopReason::kNone;
}

// The best is measured again after the last attempt, which takes about as long as an attempt.
bool TimeForAttempt(const SearchTree& tree, Seconds left) {
  if (tree.size() == 0) return true;
  double spent = 0;
  for (const Trial& trial : tree.trials()) spent += trial.spent.seconds;
  const double usual = spent / static_cast<double>(tree.size());
  return left.count() >= (tree.best() == nullptr ? 1 : 2) * usual;
}

bool TimeForProfile(Seconds left) { return left >= kLeastForProfile; }

}  // namespace pragma
