#include "expert/lower/unrolled.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/graph_testing.h"
#include "expert/ir/program.h"
#include "expert/lower/lowering.h"

namespace pragma::expert {
namespace {

GraphNode Op(const std::string& name, const std::string& op, std::vector<ScalarValue> args,
             std::vector<std::int64_t> shape = {4, 8}) {
  return {name, op, std::move(args), {}, {Tensor(name, std::move(shape))}, {}};
}

std::string At(const std::string& name, std::int64_t turn) {
  return name + "_" + std::to_string(turn);
}

// `steps` iterations of state = tanh(state * x[:, index(t)]), the last state being the result.
template <typename Index>
Task Recurrence(std::int64_t steps, const Index& index) {
  Task task;
  task.name = "recurrence";
  task.arguments = {Tensor("x", {4, 40, 8}), Tensor("start", {4, 8})};
  task.outputs = {Tensor("out", {4, 8})};
  task.graph = {Op("x", "placeholder", {}, {4, 40, 8}), Op("start", "placeholder", {})};
  std::string state = "start";
  for (std::int64_t t = 0; t < steps; ++t) {
    task.graph.push_back(
        Op(At("select", t), "aten.select.int", {Node("x"), Int(1), Int(index(t))}));
    task.graph.push_back(Op(At("mul", t), "aten.mul.Tensor", {Node(state), Node(At("select", t))}));
    state = At("tanh", t);
    task.graph.push_back(Op(state, "aten.tanh.default", {Node(At("mul", t))}));
  }
  task.graph.push_back({"output", "output", {Node(state)}, {}, {}, {}});
  return task;
}

TEST(UnrolledLoops, AreFoundWithTheirStateAndWhatAdvances) {
  const Task task = Recurrence(20, [](std::int64_t t) { return 2 * t; });
  const std::vector<UnrolledLoop> loops = FindLoops(task.graph);
  ASSERT_EQ(loops.size(), 1U);
  const UnrolledLoop& loop = loops[0];
  EXPECT_EQ(loop.first, 2U);
  EXPECT_EQ(loop.count, 20);
  EXPECT_EQ(loop.end(), task.graph.size() - 1);
  ASSERT_EQ(loop.body.size(), 3U);
  EXPECT_EQ(loop.advancing, std::set<std::size_t>{0});
  EXPECT_EQ(loop.invariant, std::set<std::string>{"x"});
  ASSERT_EQ(loop.states.size(), 1U);
  EXPECT_EQ(loop.states[0].initial, "start");
  EXPECT_EQ(loop.states[0].node, 2U);
  EXPECT_EQ(loop.body[1].args[0].text, loop.states[0].name);
  EXPECT_EQ(NodeOfTurn(loop, task.graph, 0, 7).args[2].integer, 14);
}

TEST(UnrolledLoops, BecomeARepeat) {
  const Result<Program> program = LowerTask(Recurrence(20, [](std::int64_t t) { return 19 - t; }));
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->repeats.size(), 1U);
  EXPECT_EQ(program->repeats[0].count, 20);
  EXPECT_EQ(program->repeats[0].step.at(0), -8);  // x, one step back in time
  EXPECT_TRUE(
      LowerTask(Recurrence(20, [](std::int64_t t) { return t; }), kForTriton)->repeats.empty());
}

TEST(UnrolledLoops, ComputeLinearLayersOfTheInputForAllStepsBefore) {
  Task task = Recurrence(20, [](std::int64_t t) { return t; });
  task.arguments.push_back(Tensor("w", {8, 8}));
  task.graph.insert(task.graph.begin(), Op("w", "placeholder", {}, {8, 8}));
  for (std::int64_t t = 0; t < 20; ++t) {
    const auto after_select = task.graph.begin() + 4 + 4 * t;
    const auto linear = task.graph.insert(after_select, Op(At("linear", t), "aten.linear.default",
                                                           {Node(At("select", t)), Node("w")}));
    (linear + 1)->args[1] = Node(At("linear", t));
  }
  const Result<Program> program = LowerTask(task);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->repeats.size(), 1U);
  int products = 0;
  for (const Step& step : program->steps) {
    if (!step.product) continue;
    ++products;
    EXPECT_EQ(step.repeat, -1);
    EXPECT_EQ(Elements(step.shape), 4 * 40 * 8 * 8);
  }
  EXPECT_EQ(products, 1);
}

TEST(UnrolledLoops, NeedIndicesThatAdvanceAlike) {
  const auto none = [](const Task& task) { return FindLoops(task.graph).empty(); };
  EXPECT_TRUE(none(Recurrence(20, [](std::int64_t t) { return t * t % 37; })));
  EXPECT_TRUE(none(Recurrence(5, [](std::int64_t t) { return t; })));  // not worth a loop
  // From the end to the front: no distance between elements of memory is the same.
  const std::vector<UnrolledLoop> loops =
      FindLoops(Recurrence(20, [](std::int64_t t) { return t - 1; }).graph);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].count, 19);
}

TEST(UnrolledLoops, AreNotLayersWithWeightsOfTheirOwn) {
  Task task = Recurrence(20, [](std::int64_t) { return 0; });
  std::vector<GraphNode> weights;
  for (std::int64_t t = 0; t < 20; ++t) {
    weights.push_back(Op(At("w", t), "placeholder", {}, {4, 40, 8}));
    task.graph[static_cast<std::size_t>(2 + 3 * t)].args[0] = Node(At("w", t));
  }
  task.graph.insert(task.graph.begin(), weights.begin(), weights.end());
  EXPECT_TRUE(FindLoops(task.graph).empty());
}

TEST(UnrolledLoops, AreNotStepsThatNeedNothingOfEachOther) {
  Task task = Recurrence(20, [](std::int64_t t) { return t; });
  for (std::size_t n = 3; n + 1 < task.graph.size(); n += 3) task.graph[n].args[0] = Node("start");
  EXPECT_TRUE(FindLoops(task.graph).empty());
}

TEST(UnrolledLoops, ThatReachBackTwoStepsHaveIterationsOfTwo) {
  Task task = Recurrence(20, [](std::int64_t t) { return t; });
  for (std::int64_t t = 2; t < 20; ++t)
    task.graph[static_cast<std::size_t>(3 + 3 * t)].args[0] = Node(At("tanh", t - 2));
  const std::vector<UnrolledLoop> loops = FindLoops(task.graph);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].body.size(), 6U);
  EXPECT_EQ(loops[0].states.size(), 2U);
}

}  // namespace
}  // namespace pragma::expert
