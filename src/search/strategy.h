// Strategy: decides which node to work on next, and what each role is shown.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/role.h"
#include "search/preset.h"

namespace pragma {

class SearchTree;

struct Move {
  int node = 0;  // the node worked on; the parent, unless the advice's base says otherwise
  Role role = Role::kSeed;
  std::vector<int> plan_window;  // further nodes shown to the Conductor or planner, oldest first
  std::vector<int> code_window;  // further nodes shown to the Coder or debugger
  std::string focus;             // a diagnosis class or family to work on; empty: any
};

// An attempt that has begun but is not a trial yet.
struct InFlight {
  int node = 0;  // number that it will have
  Move move;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Returns the move of attempt `node` >= tree.next_node(). The attempts between the tree's last
  // node and `node` are in flight. The result depends only on the arguments and on the strategy's
  // own seed, so that a run can be resumed and replayed.
  [[nodiscard]] virtual Move Next(const SearchTree& tree,
                                  const std::vector<InFlight>& in_flight) = 0;
};

[[nodiscard]] std::unique_ptr<Strategy> MakeStrategy(const Preset& preset, const Seed& seed);

}  // namespace pragma
