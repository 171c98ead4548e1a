// Tests STARK's rules as properties over thousands of simulated attempts, and the other tree
// policies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/families.h"
#include "search/preset.h"
#include "search/simulation.h"
#include "search/strategy.h"
#include "search/tree_view.h"

namespace pragma {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::Le;
using ::testing::Lt;
using ::testing::Not;

Preset Shipped(const std::string& name) {
  return LoadPreset(std::string(PRAGMA_SOURCE_DIR) + "/strategies", name).value();
}

// Calls `check` with what the strategy saw at each attempt and what it decided.
using Check = std::function<void(const TreeView& view, const Move& move)>;
void OverManyRuns(const Preset& preset, int jobs, const Check& check, std::uint64_t runs = 20) {
  for (const SimulatedWorld& world : StandardWorlds()) {
    for (std::uint64_t i = 0; i < runs; ++i) {
      const Seed seed{i, 7};
      const SimulatedRun run = Simulate(preset, world, 30, jobs, seed);
      SearchTree seen;
      for (int node = 1; node <= 30; ++node) {
        while (static_cast<int>(seen.size()) < node - jobs)
          seen.Insert(run.tree.at(seen.next_node()));
        std::vector<InFlight> in_flight;
        for (int n = seen.next_node(); n < node; ++n)
          in_flight.push_back({n, run.moves[static_cast<std::size_t>(n - 1)]});
        check(TreeView(seen, in_flight), run.moves[static_cast<std::size_t>(node - 1)]);
      }
    }
  }
}

class Stark : public ::testing::TestWithParam<int> {};

TEST_P(Stark, TheReferenceNeverHasASixthChild) {
  OverManyRuns(Shipped("stark"), GetParam(), [](const TreeView& view, const Move& move) {
    if (move.node == 0) {
      EXPECT_LT(view.selections(0), 5);
    }
  });
}

TEST_P(Stark, NothingIsSelectedInADeadBranch) {
  OverManyRuns(Shipped("stark"), GetParam(), [](const TreeView& view, const Move& move) {
    const std::vector<int>& children = view.children(move.node);
    const bool dead = children.size() > 3 &&
                      std::ranges::none_of(children, [&](int child) { return view.passed(child); });
    EXPECT_FALSE(dead) << "node " << move.node;
  });
}

TEST_P(Stark, FailuresAreRepairedAndTheRestIsImproved) {
  OverManyRuns(Shipped("stark"), GetParam(), [](const TreeView& view, const Move& move) {
    const Role role = move.node == 0           ? Role::kSeed
                      : view.passed(move.node) ? Role::kImprove
                                               : Role::kRepair;
    EXPECT_EQ(move.role, role);
  });
}

std::vector<int> Passed(const TreeView& view) {
  std::vector<int> nodes;
  for (int node = 1; node < view.nodes(); ++node) {
    if (view.passed(node)) nodes.push_back(node);
  }
  return nodes;
}

TEST_P(Stark, EachRoleSeesItsOwnWindow) {
  OverManyRuns(Shipped("stark"), GetParam(), [](const TreeView& view, const Move& move) {
    EXPECT_LE(move.plan_window.size(), 5U);
    EXPECT_LE(move.code_window.size(), 5U);
    EXPECT_TRUE(std::ranges::is_sorted(move.plan_window));
    EXPECT_THAT(move.code_window, Not(::testing::Contains(move.node)));
    EXPECT_THAT(move.plan_window, Each(AllOf(Ge(1), Lt(view.nodes()))));
    if (move.role == Role::kRepair) {
      EXPECT_THAT(move.code_window, IsSubsetOf(view.siblings(move.node)));
      return;
    }
    std::vector<int> near = view.children(move.node);
    std::vector<int> leaders_or_children = near;
    for (const int node : Passed(view)) {
      if (move.node == 0 || !view.in_subtree(node, move.node)) leaders_or_children.push_back(node);
    }
    EXPECT_THAT(move.plan_window, IsSubsetOf(leaders_or_children));
    const std::vector<int> cousins = view.cousins(move.node);
    near.insert(near.end(), cousins.begin(), cousins.end());
    EXPECT_THAT(move.code_window, IsSubsetOf(near));
    if (near.size() <= 5) {
      EXPECT_EQ(move.code_window.size(), near.size());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, Stark, ::testing::Values(1, 4));

// The figures that follow from the paper's rules (30 attempts; probabilities of 0.5, 0.35 and
// 0.15).
TEST(StarkFigures, SpendsItsAttemptsAsItsRulesImply) {
  const std::vector<SimulatedWorld> worlds = StandardWorlds();
  for (int i = 0; i < 2; ++i) {
    const SimulatedWorld& world = worlds[static_cast<std::size_t>(i)];
    const SimulatedFigures figures = SimulateMany(Shipped("stark"), world, 30, 1, 200, {3, 4});
    EXPECT_THAT(figures.roots.mean, AllOf(Ge(2.5), Le(4.5))) << world.name;
    EXPECT_THAT(figures.repairs.mean, AllOf(Ge(4.0), Le(9.0))) << world.name;
    EXPECT_THAT(figures.improves.mean, AllOf(Ge(17.0), Le(23.0))) << world.name;
    EXPECT_THAT(figures.depth.mean, AllOf(Ge(3.5), Le(6.5))) << world.name;
  }
}

Trial Made(int parent, double speedup, const std::string& source) {
  Trial trial{.parent = parent, .role = parent == 0 ? Role::kSeed : Role::kImprove};
  trial.candidate = CppCandidate(source);
  trial.evaluation.status = speedup > 0 ? Status::kPassed : Status::kWrongValues;
  if (speedup <= 0) return trial;
  trial.evaluation.speedup_eager = Interval{speedup, speedup, speedup};
  trial.evaluation.timing = Timing{.ms = {1 / speedup, 1 / speedup, 1 / speedup}};
  trial.evaluation.eager = Timing{.ms = {1, 1, 1}};
  return trial;
}

SearchTree Grown(const std::vector<Trial>& trials) {
  SearchTree tree;
  for (Trial trial : trials) {
    trial.node = tree.next_node();
    const Trial* best = tree.best();
    trial.best = trial.evaluation.passed() &&
                 (best == nullptr ||
                  trial.evaluation.speedup_eager->median > best->evaluation.speedup_eager->median);
    tree.Insert(trial);
  }
  return tree;
}

Preset Greedy() {
  Preset preset = Shipped("stark");
  preset.tree.epsilon = 0;
  return preset;
}

Move Decided(const Preset& preset, const SearchTree& tree,
             const std::vector<InFlight>& flying = {}) {
  return MakeStrategy(preset, {1, 2})->Next(tree, flying);
}

TEST(EpsilonGreedy, TheReferenceIsTheBestWhileNothingIsFaster) {
  EXPECT_EQ(Decided(Greedy(), {}).role, Role::kSeed);
  EXPECT_EQ(Decided(Greedy(), Grown({Made(0, 0.5, "a")})).node, 0) << "eager is faster";
  EXPECT_EQ(Decided(Greedy(), Grown({Made(0, 2, "a")})).node, 1);
}

TEST(EpsilonGreedy, WithTheReferenceFullTheLeastTriedFailureIsRepaired) {
  const SearchTree tree = Grown({Made(0, 0, "a"), Made(0, 0, "b"), Made(0, 0, "c"), Made(0, 0, "d"),
                                 Made(0, 0, "e"), Made(1, 0, "f")});
  const Move move = Decided(Greedy(), tree);
  EXPECT_EQ(move.node, 2);
  EXPECT_EQ(move.role, Role::kRepair);
  EXPECT_THAT(move.code_window, ElementsAre(1, 3, 4, 5));
  EXPECT_EQ(Decided(Greedy(), tree, {{7, move}}).node, 3) << "one in flight counts as tried";
}

TEST(EpsilonGreedy, TheOtherReadingOfADeadBranch) {
  const SearchTree tree = Grown(
      {Made(0, 2, "a"), Made(1, 0, "b"), Made(1, 0, "c"), Made(1, 0, "d"), Made(0, 1.5, "e")});
  Preset preset = Greedy();
  EXPECT_EQ(Decided(preset, tree).node, 1) << "three failures are not more than three";
  preset.tree.dead_at_least = true;
  EXPECT_EQ(Decided(preset, tree).node, 5);
}

TEST(EpsilonGreedy, AReplyWithoutCodeIsNoNodeToWorkOn) {
  Trial none{.parent = 0};
  none.evaluation.status = Status::kUnsupported;
  SearchTree tree = Grown({none, none, none, none, none});
  EXPECT_EQ(Decided(Greedy(), tree).node, 0) << "rather a sixth child than no attempt";
}

TEST(EpsilonGreedy, LeadersAreDistinctKernelsOutsideTheSubtree) {
  Preset preset = Greedy();
  preset.tree.window = 50;
  const SearchTree tree = Grown(
      {Made(0, 2, "a"), Made(0, 3, "b"), Made(2, 2.5, "c"), Made(0, 2, "a"), Made(0, 1.5, "d")});
  EXPECT_THAT(Decided(preset, tree).plan_window, ElementsAre(3))
      << "of the two best, one is the node itself and one its child";
  preset.tree.leaders_refill = true;
  EXPECT_THAT(Decided(preset, tree).plan_window, ElementsAre(1, 3, 5)) << "a counts once";
}

TEST(EpsilonGreedy, RepairsAtOnceWhereThePresetSaysSo) {
  Preset preset = Greedy();
  preset.tree.repairs = 1;
  SearchTree tree = Grown({Made(0, 2, "a"), Made(1, 0, "b")});
  EXPECT_EQ(Decided(preset, tree).node, 2);
  Trial again = Made(2, 0, "c");
  again.node = 3;
  again.role = Role::kRepair;
  tree.Insert(again);
  EXPECT_EQ(Decided(preset, tree).node, 1) << "once is enough";
}

TEST(EpsilonGreedy, RewindsWhenTheBestBranchBringsNothing) {
  Preset preset = Greedy();
  preset.tree.rewind_after = 2;
  const SearchTree tree = Grown({Made(0, 2, "a"), Made(1, 3, "b"), Made(2, 2.5, "c")});
  EXPECT_EQ(Decided(preset, tree).node, 2);
  const SearchTree longer =
      Grown({Made(0, 2, "a"), Made(1, 3, "b"), Made(2, 2.5, "c"), Made(2, 2.4, "d")});
  EXPECT_EQ(Decided(preset, longer).node, 1);
}

TEST(EpsilonGreedy, ANodeMayHaveEnoughChildren) {
  Preset preset = Greedy();
  preset.tree.most_children = 1;
  EXPECT_EQ(Decided(preset, Grown({Made(0, 2, "a"), Made(1, 1.5, "b")})).node, 2);
}

Profile With(const std::vector<Diagnosis>& diagnosis, double compute_share) {
  Profile profile;
  profile.diagnosis = diagnosis;
  profile.metrics = {{"compute_share", compute_share, "1", "estimated"}};
  return profile;
}

TEST(Families, FollowTheDiagnosisThenTheGainsAndLeaveOutWhatIsSaturated) {
  const std::vector<Family> families{
      {.name = "vector", .classes = {"not_vectorised"}, .resource = "compute_share"},
      {.name = "memory", .classes = {"dram_bandwidth"}}};
  Trial a = Made(0, 2, "a");
  a.profile = With({{.bottleneck = "dram_bandwidth", .score = 0.5}}, 0.1);
  EXPECT_EQ(ChooseFamily(families, Grown({a}), 1, {}), "memory");
  a.profile = With({{.bottleneck = "not_vectorised", .score = 0.5}}, 0.1);
  EXPECT_EQ(ChooseFamily(families, Grown({a}), 1, {}), "vector");
  a.profile = With({{.bottleneck = "not_vectorised", .score = 0.5}}, 0.8);
  EXPECT_EQ(ChooseFamily(families, Grown({a}), 1, {}), "memory") << "the units are busy";
  a.profile = With({{.bottleneck = "not_vectorised", .score = 0.1}}, 0.1);
  Trial in_vain = Made(1, 1.9, "b");
  in_vain.focus = "vector";
  EXPECT_EQ(ChooseFamily(families, Grown({a, in_vain, in_vain}), 1, {}), "memory");
  EXPECT_EQ(ChooseFamily(families, Grown({Made(0, 2, "a")}), 1, {}), "") << "no profile";
}

TEST(Beam, WorksOnTheFirstBottlenecksOfTheBestKernels) {
  Preset preset = Shipped("beam");
  preset.beam = {.kernels = 2, .bottlenecks = 2, .repairs = 1};
  Trial a = Made(0, 2, "a");
  a.profile = With({{.bottleneck = "x"}, {.bottleneck = "y"}, {.bottleneck = "z"}}, 0);
  Trial b = Made(0, 3, "b");
  b.profile = With({{.bottleneck = "x"}}, 0);
  EXPECT_EQ(Decided(preset, Grown({a})).role, Role::kSeed) << "the beam is two kernels wide";
  std::vector<Trial> grown{a, b};
  std::vector<std::string> work;
  for (int i = 0; i < 3; ++i) {
    const Move move = Decided(preset, Grown(grown));
    work.push_back(std::to_string(move.node) + move.focus);
    Trial child = Made(move.node, 1, "child " + std::to_string(i));
    child.focus = move.focus;
    grown.push_back(child);
  }
  EXPECT_THAT(work, ElementsAre("2x", "1x", "1y"));
  grown.push_back(Made(2, 0, "broken"));
  EXPECT_EQ(Decided(preset, Grown(grown)).role, Role::kRepair);
  EXPECT_EQ(Decided(preset, Grown(grown)).node, 6);
}

TEST(Ucb, WidensWithVisitsAndPrefersWhatWasFaster) {
  const Preset preset = Shipped("ucb");
  EXPECT_EQ(Decided(preset, {}).node, 0);
  std::vector<Trial> grown{Made(0, 4, "a"), Made(0, 0.3, "b")};
  EXPECT_EQ(Decided(preset, Grown(grown)).node, 1);
  const Move first = Decided(preset, Grown(grown));
  EXPECT_EQ(Decided(preset, Grown(grown), {{3, first}, {4, first}}).node, 0)
      << "attempts in flight are visits, and five visits allow a third child";
}

// Every policy must have a valid next move in any tree.
TEST(TreePolicies, AnyTreeHasANextMove) {
  for (const char* name : {"stark", "fusion", "beam", "ucb", "pragma", "sampling", "reflexion"}) {
    OverManyRuns(
        Shipped(name), 3,
        [&](const TreeView& view, const Move& move) {
          EXPECT_THAT(move.node, AllOf(Ge(0), Lt(view.nodes()))) << name;
          EXPECT_THAT(move.plan_window, Each(Lt(view.nodes()))) << name;
        },
        2);
  }
}

TEST(TreePolicies, TheSameTreeGivesTheSameMove) {
  const SimulatedWorld world;
  for (const char* name : {"stark", "fusion", "beam", "ucb"}) {
    const Preset preset = Shipped(name);
    const auto tree_of = [&] { return Simulate(preset, world, 30, 1, {5, 6}).tree.Signature(); };
    EXPECT_EQ(tree_of(), tree_of()) << name;
  }
}

}  // namespace
}  // namespace pragma
