#include "core/islands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/task.h"

namespace pragma {
namespace {

using Names = std::vector<std::string>;

// A graph under construction. Every result is a small tensor.
class TaskOf {
 public:
  TaskOf& Argument(const std::string& name) {
    task_.arguments.push_back(Tensor(name));
    return Node(name, "placeholder", {});
  }
  TaskOf& Node(const std::string& name, const std::string& op, const Names& reads,
               std::size_t results = 1) {
    GraphNode node{.name = name, .op = op, .args = {}, .kwargs = {}, .results = {}, .strides = {}};
    for (const std::string& read : reads)
      node.args.push_back({.kind = ScalarValue::Kind::kNode, .text = read});
    if (op == "getitem") node.args.push_back({.kind = ScalarValue::Kind::kInt});
    node.results.assign(results, Tensor(name));
    task_.graph.push_back(std::move(node));
    return *this;
  }
  Task Output(const Names& reads) {
    Node("output", "output", reads, 0);
    return task_;
  }

 private:
  static TensorSpec Tensor(const std::string& name) {
    return {name, name, TensorRole::kInput, DType::kFloat32, {4, 4}};
  }
  Task task_;
};

// An author who writes everything but these operators.
CanWrite AllBut(Names operators) {
  return [operators = std::move(operators)](const Task& task) {
    return std::ranges::none_of(task.graph, [&](const GraphNode& node) {
      return std::ranges::find(operators, node.op) != operators.end();
    });
  };
}

std::vector<Names> NodesOf(const Partition& partition) {
  std::vector<Names> nodes;
  for (const Island& island : partition.islands) nodes.push_back(island.nodes);
  return nodes;
}

TEST(IslandsTest, ATaskThatCanBeWrittenIsOneIsland) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Node("a", "aten.relu.default", {"x"})
                        .Node("b", "aten.add.Tensor", {"a", "x"})
                        .Output({"b"});
  const Partition found = FindIslands(task, AllBut({}));
  EXPECT_TRUE(found.whole);
  EXPECT_EQ(NodesOf(found), std::vector<Names>({{"a", "b"}}));
  EXPECT_TRUE(found.left.empty());
}

TEST(IslandsTest, AnUnknownOperatorIsNamedAndDividesTheRest) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Node("a", "aten.relu.default", {"x"})
                        .Node("s", "aten.sort.default", {"a"}, 2)
                        .Node("s0", "getitem", {"s"})
                        .Node("b", "aten.exp.default", {"s0"})
                        .Node("c", "aten.add.Tensor", {"b", "s0"})
                        .Output({"c"});
  const Partition found = FindIslands(task, AllBut({"aten.sort.default"}));
  EXPECT_FALSE(found.whole);
  EXPECT_EQ(NodesOf(found), std::vector<Names>({{"a"}, {"b", "c"}}));
  EXPECT_EQ(found.left, Names({"aten.sort.default"}));
}

// x -> a -> sort -> c and a -> c: a and c cannot be one island, as the sort lies between them.
TEST(IslandsTest, IslandsAreConvex) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Node("a", "aten.relu.default", {"x"})
                        .Node("s", "aten.cumfoo.default", {"a"})
                        .Node("c", "aten.add.Tensor", {"a", "s"})
                        .Output({"c"});
  const Partition found = FindIslands(task, AllBut({"aten.cumfoo.default"}));
  EXPECT_EQ(NodesOf(found), std::vector<Names>({{"a"}, {"c"}}));
}

TEST(IslandsTest, ComplexNumbersStayInsideAnIsland) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Node("s", "aten.cumfoo.default", {"x"})
                        .Node("pairs", "aten.view_as_complex.default", {"s"}, 0)
                        .Node("f", "aten._fft_c2c.default", {"pairs"}, 0)
                        .Node("real", "aten.view_as_real.default", {"f"})
                        .Node("t", "aten.cumfoo.default", {"real"})
                        .Output({"t"});
  const Partition found = FindIslands(task, AllBut({"aten.cumfoo.default"}));
  EXPECT_EQ(NodesOf(found), std::vector<Names>({{"pairs", "f", "real"}}));
}

TEST(IslandsTest, ConstantsBelongToEveryIslandThatReadsThem) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Node("mask", "aten.arange.default", {})
                        .Node("a", "aten.mul.Tensor", {"x", "mask"})
                        .Node("s", "aten.sort.default", {"a"})
                        .Node("b", "aten.mul.Tensor", {"s", "mask"})
                        .Output({"b"});
  const Partition found = FindIslands(task, AllBut({"aten.sort.default"}));
  EXPECT_EQ(NodesOf(found), std::vector<Names>({{"mask", "a"}, {"mask", "b"}}));
  const Task first = CutTask(task, found.islands.front());
  ASSERT_EQ(first.outputs.size(), 1U);
  EXPECT_EQ(first.outputs.front().name, "a");
}

TEST(IslandsTest, PartsOfAResultStayWithTheOperatorThatMakesIt) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Node("n", "aten.native_layer_norm.default", {"x"}, 3)
                        .Node("n0", "getitem", {"n"})
                        .Node("s", "aten.sort.default", {"n0"})
                        .Output({"s"});
  const Partition found = FindIslands(task, AllBut({"aten.sort.default"}));
  EXPECT_EQ(NodesOf(found), std::vector<Names>({{"n", "n0"}}));
}

TEST(IslandsTest, WhatOnlyRearrangesIsNoIsland) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Node("v", "aten.view.default", {"x"})
                        .Node("s", "aten.sort.default", {"v"})
                        .Output({"s"});
  EXPECT_TRUE(FindIslands(task, AllBut({"aten.sort.default"})).islands.empty());
}

// Single operators can be written, but no more than two at once.
TEST(IslandsTest, AnIslandThatIsTooMuchIsHalved) {
  TaskOf task;
  task.Argument("x");
  std::string last = "x";
  for (const char* name : {"a", "b", "c", "d"}) {
    task.Node(name, "aten.exp.default", {last});
    last = name;
  }
  const CanWrite two = [](const Task& cut) { return cut.graph.size() <= 4; };
  EXPECT_EQ(NodesOf(FindIslands(task.Output({"d"}), two)),
            std::vector<Names>({{"a", "b"}, {"c", "d"}}));
}

TEST(IslandsTest, AValueOfATypeThatKernelsDoNotKnowCrossesNoBorder) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Node("f", "aten._fft_r2c.default", {"x"}, 0)
                        .Node("a", "aten.abs.default", {"f"})
                        .Node("b", "aten.exp.default", {"a"})
                        .Output({"b"});
  const Partition found = FindIslands(task, AllBut({"aten._fft_r2c.default"}));
  EXPECT_EQ(NodesOf(found), std::vector<Names>({{"b"}}));
  EXPECT_EQ(found.left, Names({"aten._fft_r2c.default", "aten.abs.default"}));
}

TEST(IslandsTest, ACutHasTheBorderAsArgumentsAndOutputs) {
  const Task task = TaskOf()
                        .Argument("x")
                        .Argument("y")
                        .Node("a", "aten.mul.Tensor", {"x", "y"})
                        .Node("b", "aten.exp.default", {"a"})
                        .Node("c", "aten.add.Tensor", {"a", "b"})
                        .Output({"c", "b"});
  const Task cut = CutTask(task, {{"b", "c"}});
  ASSERT_EQ(cut.arguments.size(), 1U);
  EXPECT_EQ(cut.arguments.front().name, "a");
  EXPECT_EQ(cut.arguments.front().role, TensorRole::kInput);
  ASSERT_EQ(cut.outputs.size(), 2U);
  EXPECT_EQ(cut.outputs.back().name, "c");
  EXPECT_EQ(cut.graph.front().op, "placeholder");
  EXPECT_EQ(cut.graph.back().op, "output");
}

}  // namespace
}  // namespace pragma
