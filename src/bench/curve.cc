#include "bench/curve.h"

#include <vector>

#include "core/search_tree.h"
#include "core/trial.h"

namespace pragma {

std::vector<CurvePoint> CurveOf(const SearchTree& tree) {
  std::vector<CurvePoint> curve;
  CurvePoint point;
  Spent spent;
  for (const Trial& trial : tree.trials()) {
    spent += trial.spent;
    point.attempt = trial.node;
    point.status = trial.evaluation.status;
    point.tokens = spent.tokens();
    point.usd = spent.usd;
    point.seconds = spent.seconds;
    if (trial.best && trial.evaluation.passed() && trial.evaluation.speedup_eager)
      point.best = trial.evaluation.speedup_eager->median;
    curve.push_back(point);
  }
  return curve;
}

}  // namespace pragma
