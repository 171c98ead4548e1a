// Beam: works on the best k kernels, each with regard to the first b bottlenecks of its diagnosis
// (the scheme of PyTorch's KernelAgent). There are no strict rounds: the least-tried pair of kernel
// and bottleneck comes next, the faster kernel first, so that attempts in flight delay nothing.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/profile.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/policies.h"
#include "search/preset.h"
#include "search/strategy.h"
#include "search/tree_view.h"

namespace pragma {
namespace {

// Returns the passed kernels, the fastest first.
std::vector<int> Ranked(const TreeView& view) {
  std::vector<int> nodes;
  for (int node = 1; node < view.nodes(); ++node) {
    if (view.passed(node)) nodes.push_back(node);
  }
  std::ranges::stable_sort(nodes, {}, [&](int node) { return -view.log_speedup(node); });
  return nodes;
}

// Returns the oldest failure that may still be repaired, or 0 if there is none.
int ToRepair(const TreeView& view, int most) {
  for (int node = 1; node < view.nodes(); ++node) {
    if (!view.passed(node) && view.has_code(node) && view.selections(node) == 0 &&
        view.repairs_in_a_row(node) < most)
      return node;
  }
  return 0;
}

// Returns what to work on in a kernel: the classes of its diagnosis or, if it has none, anything.
std::vector<std::string> Targets(const Trial& trial, int most) {
  std::vector<std::string> classes;
  if (trial.profile) {
    for (const Diagnosis& cause : trial.profile->diagnosis) {
      if (classes.size() < static_cast<std::size_t>(most)) classes.push_back(cause.bottleneck);
    }
  }
  if (classes.empty()) classes.emplace_back();
  return classes;
}

int Tries(const SearchTree& tree, const std::vector<InFlight>& in_flight, int node,
          const std::string& focus) {
  const auto tried = std::ranges::count_if(tree.trials(), [&](const Trial& trial) {
    return trial.parent == node && trial.focus == focus;
  });
  const auto trying = std::ranges::count_if(in_flight, [&](const InFlight& flying) {
    return flying.move.node == node && flying.move.focus == focus;
  });
  return static_cast<int>(tried + trying);
}

class Beam final : public Strategy {
 public:
  explicit Beam(const BeamRules& rules) : rules_(rules) {}
  [[nodiscard]] Move Next(const SearchTree& tree, const std::vector<InFlight>& in_flight) override;

 private:
  BeamRules rules_;
};

Move Beam::Next(const SearchTree& tree, const std::vector<InFlight>& in_flight) {
  const TreeView view(tree, in_flight);
  if (const int failed = ToRepair(view, rules_.repairs); failed > 0) {
    Move move = WorkOn(view, failed);
    move.plan_window = move.code_window = view.siblings(failed);
    return move;
  }
  std::vector<int> kernels = Ranked(view);
  const auto width = static_cast<std::size_t>(rules_.kernels);
  const bool seeds_wanted = kernels.size() < width && view.selections(0) < 2 * rules_.kernels;
  if (kernels.empty() || seeds_wanted) return {};
  kernels.resize(std::min(kernels.size(), width));
  Move least;
  int fewest = -1;
  for (const int node : kernels) {
    for (const std::string& focus : Targets(tree.at(node), rules_.bottlenecks)) {
      const int tries = Tries(tree, in_flight, node, focus);
      if (fewest >= 0 && tries >= fewest) continue;
      fewest = tries;
      least = {.node = node, .role = Role::kImprove, .focus = focus};
    }
  }
  least.plan_window = view.children(least.node);
  least.code_window = least.plan_window;
  return least;
}

}  // namespace

std::unique_ptr<Strategy> MakeBeam(const Preset& preset) {
  return std::make_unique<Beam>(preset.beam);
}

}  // namespace pragma
