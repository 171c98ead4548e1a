// Tests that a batch computed in slices gives the same results as the whole batch at once, with
// less memory between the nests.
#include "expert/plan/slices.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "core/task.h"
#include "expert/cpp/anchor_testing.h"
#include "expert/cpp/emit_kernel.h"
#include "expert/graph_testing.h"
#include "expert/ir/target.h"
#include "expert/lower/lowering.h"
#include "expert/plan/plan_nests.h"
#include "task/torch_server.h"

namespace pragma::expert {
namespace {

using Kind = ScalarValue::Kind;

ScalarValue Ints(std::vector<std::int64_t> values) {
  ScalarValue list{.kind = Kind::kList};
  for (const std::int64_t value : values) list.items.push_back(Int(value));
  return list;
}

// Returns a task for out = softmax over the channels of a 3x3 convolution. The softmax takes two
// passes over the intermediate results.
Task ConvolutionThenSoftmax(std::int64_t images) {
  const std::vector<std::int64_t> input{images, 3, 18, 18}, weight{8, 3, 3, 3},
      output{images, 8, 16, 16};
  const std::vector<std::int64_t> strides{8 * 16 * 16, 16 * 16, 16, 1};
  Task task;
  task.name = "sliced";
  task.arguments = {Tensor("x", input), Tensor("w", weight)};
  task.outputs = {Tensor("out", output)};
  task.outputs[0].role = TensorRole::kOutput;
  const std::vector<ScalarValue> convolution{
      Node("x"),    Node("w"), {}, Ints({1, 1}), Ints({0, 0}), Ints({1, 1}), {.kind = Kind::kBool},
      Ints({0, 0}), Int(1)};
  task.graph = {
      {"x", "placeholder", {}, {}, {task.arguments[0]}, {{3 * 18 * 18, 18 * 18, 18, 1}}},
      {"w", "placeholder", {}, {}, {task.arguments[1]}, {{27, 9, 3, 1}}},
      {"c", "aten.convolution.default", convolution, {}, {Tensor("c", output)}, {strides}},
      {"y",
       "aten._softmax.default",
       {Node("c"), Int(1), Int(0)},
       {},
       {Tensor("y", output)},
       {strides}},
      {"output", "output", {Node("y")}, {}, {}, {}}};
  return task;
}

// Returns a task for out = relu(convolution(relu(convolution(x, w)), w)), with one weight for both.
Task TwoConvolutions(std::int64_t images) {
  const std::vector<std::int64_t> shape{images, 16, 12, 12}, weight{16, 16, 3, 3};
  const std::vector<std::int64_t> strides{16 * 144, 144, 12, 1};
  const auto convolution = [](const std::string& x) {
    return std::vector<ScalarValue>{Node(x),
                                    Node("w"),
                                    {},
                                    Ints({1, 1}),
                                    Ints({1, 1}),
                                    Ints({1, 1}),
                                    {.kind = Kind::kBool},
                                    Ints({0, 0}),
                                    Int(1)};
  };
  const auto node = [&](const std::string& name, const std::string& op,
                        std::vector<ScalarValue> args) {
    return GraphNode{name, op, std::move(args), {}, {Tensor(name, shape)}, {strides}};
  };
  Task task;
  task.name = "threads";
  task.arguments = {Tensor("x", shape), Tensor("w", weight)};
  task.outputs = {Tensor("out", shape)};
  task.outputs[0].role = TensorRole::kOutput;
  task.graph = {{"x", "placeholder", {}, {}, {task.arguments[0]}, {strides}},
                {"w", "placeholder", {}, {}, {task.arguments[1]}, {{144, 9, 3, 1}}},
                node("c", "aten.convolution.default", convolution("x")),
                node("r", "aten.relu.default", {Node("c")}),
                node("d", "aten.convolution.default", convolution("r")),
                node("y", "aten.relu.default", {Node("d")}),
                {"output", "output", {Node("y")}, {}, {}, {}}};
  return task;
}

struct Outcome {
  std::string failure;
  std::size_t scratch_bytes = 0;
  std::vector<float> out;
};

Outcome Compute(const Task& task, const KernelTarget& target) {
  const TempDir folder = std::move(*TempDir::Create());
  const Result<Program> program = LowerTask(task);
  if (!program) return {.failure = program.error().message};
  Outcome outcome;
  if (!WriteFileAtomic(folder.path() / "kernel.h", KernelHeader(task)) ||
      !WriteFileAtomic(folder.path() / "kernel.cpp", EmitKernel(task, *program, target, {}).source))
    return {.failure = "cannot write the source"};
  outcome.failure = RunIn(folder.path(), {"g++", "-std=c++20", "-O1", "-march=native", "-fopenmp",
                                          "-fPIC", "-shared", "kernel.cpp", "-o", "kernel.so"});
  if (!outcome.failure.empty()) return outcome;
  void* library = ::dlopen((folder.path() / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {.failure = ::dlerror()};
  const auto kernel = reinterpret_cast<void (*)(const float*, const float*, float*, void*)>(
      ::dlsym(library, "pragma_kernel"));
  outcome.scratch_bytes =
      *static_cast<const std::size_t*>(::dlsym(library, "pragma_scratch_bytes"));
  const auto numbers = [](std::size_t bytes, std::uint32_t seed) {
    std::vector<float> values(bytes / sizeof(float));
    for (float& value : values) {
      seed = seed * 1664525U + 1013904223U;
      value = static_cast<float>(seed >> 8U) / static_cast<float>(1U << 24U) - 0.5F;
    }
    return values;
  };
  const std::vector<float> x = numbers(task.arguments[0].bytes(), 1);
  const std::vector<float> w = numbers(task.arguments[1].bytes(), 2);
  outcome.out.assign(task.outputs[0].bytes() / sizeof(float), -1);
  std::vector<char> memory(outcome.scratch_bytes + 64);
  void* scratch = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  kernel(x.data(), w.data(), outcome.out.data(), scratch);
  return outcome;  // the library stays loaded, because its OpenMP threads are still alive
}

KernelTarget WithCache(std::int64_t bytes) {
  KernelTarget target;
  target.threads = 2;
  target.shared_cache_bytes = bytes;
  return target;
}

TEST(Slices, GiveWhatTheWholeBatchGives) {
  for (const std::int64_t images : {2, 7, 12}) {
    const Task task = ConvolutionThenSoftmax(images);
    const Outcome whole = Compute(task, WithCache(1 << 24));
    const Outcome sliced = Compute(task, WithCache(1 << 14));
    ASSERT_EQ(whole.failure, "");
    ASSERT_EQ(sliced.failure, "");
    EXPECT_EQ(sliced.out, whole.out) << images << " images";
    EXPECT_LT(sliced.scratch_bytes, whole.scratch_bytes) << images << " images";
  }
}

TEST(Slices, AreNotMadeOfWhatFitsIntoTheCache) {
  Program program = *LowerTask(ConvolutionThenSoftmax(12));
  std::vector<Nest> nests = PlanNests(program);
  EXPECT_TRUE(MakeSlices(program, nests, WithCache(1 << 24)).empty());
  const std::vector<Slices> slices = MakeSlices(program, nests, WithCache(1 << 14));
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices[0].images, 12);
  EXPECT_LT(slices[0].at_once, 12);
  EXPECT_EQ(12 % slices[0].at_once, 0);
}

KernelTarget WithPrivateCache(std::int64_t bytes, int threads = 2) {
  KernelTarget target;
  target.threads = threads;
  target.private_cache_bytes = bytes;
  return target;
}

TEST(ThreadSlices, GiveWhatTheWholeBatchGives) {
  for (const std::int64_t images : {2, 8, 9}) {
    const Task task = TwoConvolutions(images);
    const Outcome whole = Compute(task, WithPrivateCache(1 << 30));
    const Outcome sliced = Compute(task, WithPrivateCache(1 << 8));
    ASSERT_EQ(whole.failure, "");
    ASSERT_EQ(sliced.failure, "");
    EXPECT_EQ(sliced.out, whole.out) << images << " images";
  }
}

TEST(ThreadSlices, TakeEveryConvolutionAndKeepAnImageForEachThread) {
  Program program = *LowerTask(TwoConvolutions(8));
  std::vector<Nest> nests = PlanNests(program);
  const std::vector<Slices> slices = MakeSlices(program, nests, WithPrivateCache(1 << 8));
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_TRUE(slices[0].by_thread);
  EXPECT_EQ(slices[0].last, nests.size() - 1);
  EXPECT_FALSE(slices[0].inside.contains(0));
  EXPECT_FALSE(slices[0].inside.contains(nests.back().steps.back().buffer));
  EXPECT_TRUE(slices[0].inside.contains(nests.front().steps.back().buffer));
  for (const Nest& nest : nests) {
    EXPECT_EQ(nest.shape[0], 1);
    EXPECT_TRUE(nest.one_thread);
  }
}

TEST(ThreadSlices, AreNotMadeWhereThreadsWouldWaitOrCachesHoldAll) {
  Program program = *LowerTask(TwoConvolutions(3));
  std::vector<Nest> nests = PlanNests(program);
  EXPECT_TRUE(MakeSlices(program, nests, WithPrivateCache(1 << 8)).empty());  // 3 images, 2 threads
  EXPECT_TRUE(MakeSlices(program, nests, WithPrivateCache(1 << 30, 3)).empty());
}

}  // namespace
}  // namespace pragma::expert
