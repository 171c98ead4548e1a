#include "search/families.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/profile.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/preset.h"
#include "search/strategy.h"
#include "search/tree_view.h"

namespace pragma {
namespace {

constexpr double kExploration = 0.5;

// The gain of a family in this run, and how often it was tried or is being tried.
struct Record {
  double gain = 0;  // sum of log ratios to the base version, each within [0, 1]
  int tries = 0;
};

double LogSpeedupAt(const SearchTree& tree, int node) {
  return node == 0 ? 0 : LogSpeedup(tree.at(node));
}

Record RecordOf(const Family& family, const SearchTree& tree,
                const std::vector<InFlight>& in_flight) {
  Record record;
  for (const Trial& trial : tree.trials()) {
    if (trial.focus != family.name) continue;
    ++record.tries;
    const double before = LogSpeedupAt(tree, trial.parent);
    const double after = LogSpeedup(trial);
    if (before > -kNoScore && after > before) record.gain += std::min(1.0, after - before);
  }
  for (const InFlight& flying : in_flight) {
    if (flying.move.focus == family.name) ++record.tries;
  }
  return record;
}

// Returns the share of the time that this family can affect, according to the diagnosis.
double Diagnosed(const Family& family, const Profile& profile) {
  double score = 0;
  for (const Diagnosis& cause : profile.diagnosis) {
    if (std::ranges::find(family.classes, cause.bottleneck) != family.classes.end())
      score = std::max(score, cause.score);
  }
  return score;
}

bool Saturated(const Family& family, const Profile& profile) {
  const Metric* metric = family.resource.empty() ? nullptr : profile.Find(family.resource);
  return metric != nullptr && metric->value >= family.saturated;
}

}  // namespace

std::string ChooseFamily(const std::vector<Family>& families, const SearchTree& tree, int node,
                         const std::vector<InFlight>& in_flight) {
  if (node == 0 || !tree.at(node).profile) return {};
  const Profile& profile = *tree.at(node).profile;
  int total = 0;
  for (const Family& family : families) total += RecordOf(family, tree, in_flight).tries;
  const Family* chosen = nullptr;
  double most = 0;
  for (const Family& family : families) {
    if (Saturated(family, profile)) continue;
    const Record record = RecordOf(family, tree, in_flight);
    const double value = (Diagnosed(family, profile) + record.gain) / (record.tries + 1) +
                         kExploration * std::sqrt(std::log(total + 1) / (record.tries + 1));
    if (chosen == nullptr || value > most) {
      chosen = &family;
      most = value;
    }
  }
  return chosen == nullptr ? std::string() : chosen->name;
}

}  // namespace pragma
