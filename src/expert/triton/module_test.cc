// Tests the Triton modules of the expert: which kernels there are, and that its choices are read
// back. The values that they compute are tested in Triton's interpreter
// (python/tests/test_expert_triton.py).
#include "expert/triton/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "core/advice.h"
#include "core/candidate.h"
#include "core/task.h"
#include "core/trial.h"
#include "expert/expert.h"
#include "expert/plan/variant.h"
#include "knowledge/entry.h"

namespace pragma::expert {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = ScalarValue::Kind;

TensorSpec Float(const std::string& name, const Shape& shape) {
  return {name, name, TensorRole::kInput, DType::kFloat32, shape};
}
ScalarValue Named(const std::string& name) { return {.kind = Kind::kNode, .text = name}; }
ScalarValue Number(std::int64_t value) { return {.kind = Kind::kInt, .integer = value}; }

// Returns a task for out = op(arguments..., numbers...).
Task Operator(const std::string& op, const std::vector<Shape>& shapes, const Shape& result,
              const std::vector<std::int64_t>& numbers = {}) {
  Task task;
  task.name = "one";
  GraphNode node{"y", op, {}, {}, {Float("y", result)}, {{}}};
  for (const Shape& shape : shapes) {
    const std::string name = "x" + std::to_string(task.arguments.size());
    task.arguments.push_back(Float(name, shape));
    task.graph.push_back({name, "placeholder", {}, {}, {Float(name, shape)}, {{}}});
    node.args.push_back(Named(name));
  }
  for (const std::int64_t number : numbers) node.args.push_back(Number(number));
  task.graph.push_back(node);
  task.graph.push_back({"output", "output", {Named("y")}, {}, {}, {}});
  task.outputs = {Float("out", result)};
  return task;
}

Proposal Propose(const Task& task, Window window = {}, const Advice* advice = nullptr) {
  window.task = &task;
  return *MakeExpertCoder({}, Language::kTriton)->Propose(window, advice, {});
}

std::string TextOf(const Task& task) { return Propose(task).candidate->source(); }

std::size_t Times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(TritonModule, ARowThatFitsIsReadOnce) {
  const std::string text =
      TextOf(Operator("aten._softmax.default", {{4096, 1000}}, {4096, 1000}, {1, 0}));
  EXPECT_EQ(Times(text, "tl.load("), 1U) << text;
  EXPECT_EQ(Times(text, "for start"), 0U) << text;
  EXPECT_THAT(text, HasSubstr("def run(x0, out):"));
}

TEST(TritonModule, ALongRowIsReadOnceForItsSumsAndOnceForItsResults) {
  const std::string text =
      TextOf(Operator("aten._softmax.default", {{512, 100000}}, {512, 100000}, {1, 0}));
  EXPECT_EQ(Times(text, "for start"), 2U) << text;
}

TEST(TritonModule, AFoldWithFewResultsIsSharedByTwoKernels) {
  const std::string text = TextOf(Operator("aten.sum.default", {{1024, 4096}}, {}));
  EXPECT_EQ(Times(text, "@triton.jit\ndef "), 2U) << text;
  EXPECT_THAT(text, HasSubstr("torch.empty("));
}

TEST(TritonModule, ASmallFoldIsOneKernel) {
  const std::string text = TextOf(Operator("aten.sum.default", {{64, 1024}}, {}));
  EXPECT_EQ(Times(text, "@triton.jit\ndef "), 1U) << text;
}

TEST(TritonModule, WhatIsNotTunedIsCompiledWithTheModule) {
  const std::string text = TextOf(Operator("aten.relu.default", {{16, 1024}}, {16, 1024}));
  EXPECT_THAT(text, HasSubstr("out_kernel_built = out_kernel.warmup(torch.float32, torch.float32, "
                              "grid=(1,))"));
  EXPECT_THAT(text, HasSubstr("    out_kernel_built[(128, 1, 1)](x0, out)"));
  EXPECT_THAT(text, HasSubstr("    BLOCK: tl.constexpr = 128"));
}

TEST(TritonModule, ProductsAreMadeOnTensorCoresInThreeParts) {
  const std::string text =
      TextOf(Operator("aten.mm.default", {{512, 512}, {512, 512}}, {512, 512}));
  EXPECT_THAT(text, HasSubstr("input_precision=\"tf32x3\""));
  EXPECT_THAT(text, Not(HasSubstr("mask=")));  // all blocks fit
}

TEST(TritonModule, PositionsTakeSixtyFourBitsWhereIndicesDo) {
  const auto argmin = [](std::int64_t rows) {
    return TextOf(Operator("aten.argmin.default", {{rows, 4096, 4095}}, {rows, 4095}, {1}));
  };
  EXPECT_THAT(argmin(8), HasSubstr("_place = tl.full((ROWS, COLUMNS), 2147483647, tl.int32)"));
  const std::string wide = argmin(128);
  EXPECT_THAT(wide, HasSubstr("_place = tl.full((ROWS, COLUMNS), 9223372036854775807, tl.int64)"));
  EXPECT_THAT(wide, HasSubstr("tl.cast(column[None, :], tl.int64)"));
}

TEST(TritonModule, HeadsThatDoNotFitIntoAMultiprocessorAreProductsAndASoftMax) {
  const auto attention = [](std::int64_t head) {
    const Shape shape{2, 8, 512, head};
    return TextOf(
        Operator("aten.scaled_dot_product_attention.default", {shape, shape, shape}, shape));
  };
  EXPECT_EQ(Times(attention(128), "tl.exp2("), 2U);
  const std::string products = attention(256);
  EXPECT_EQ(Times(products, "tl.exp2("), 0U) << products;
  EXPECT_EQ(Times(products, "BLOCK_K: tl.constexpr):"), 2U) << products;
}

TEST(TritonModule, AnUnknownOperatorIsNamed) {
  const Proposal proposal = Propose(Operator("aten.fft_fft2.default", {{4, 4}}, {4, 4}));
  EXPECT_TRUE(proposal.unsupported);
  EXPECT_THAT(proposal.reason, HasSubstr("aten.fft_fft2.default"));
}

TEST(TritonModule, ChoicesAreReadBackAndAskedForOneByOne) {
  const Task task = Operator("aten.mm.default", {{512, 512}, {512, 512}}, {512, 512});
  Trial best;
  best.candidate = Propose(task).candidate;
  EXPECT_EQ(best.candidate->language, Language::kTriton);
  EXPECT_EQ(VariantOf(*best.candidate)->Text(), "default");
  Window window;
  window.task = &task;
  window.best = &best;
  const Advised advised = *MakeExpertConductor(*Compendium::Make({}, {}), {})->Advise(window, {});
  EXPECT_THAT(advised.advice.change, HasSubstr("=1: "));
  const Advice exact{.change = "precision=1: exact"};
  const Proposal proposal = Propose(task, window, &exact);
  EXPECT_EQ(VariantOf(*proposal.candidate)->Text(), "precision=1");
  EXPECT_THAT(proposal.candidate->source(), HasSubstr("input_precision=\"ieee\""));
}

TEST(TritonModuleTest, LargeProductsPackTheirOperandsAndPaddedOnesNeedNoMask) {
  const std::string text =
      TextOf(Operator("aten.mm.default", {{1500, 1501}, {1501, 1502}}, {1500, 1502}));
  EXPECT_THAT(text, HasSubstr("_pack_left_kernel("));
  EXPECT_THAT(text, HasSubstr("_pack_right_kernel("));
  EXPECT_THAT(text, HasSubstr("left_low = tl.load(x0_low + (m * 1536)[:, None] + k[None, :])"));
}

TEST(TritonModuleTest, SmallAndThinProductsAreNotPacked) {
  EXPECT_THAT(TextOf(Operator("aten.mm.default", {{512, 512}, {512, 512}}, {512, 512})),
              Not(HasSubstr("_pack_")));
  EXPECT_THAT(TextOf(Operator("aten.mm.default", {{8192, 8192}, {8192, 64}}, {8192, 64})),
              Not(HasSubstr("_pack_")));
}

// Returns the task of x1 * (x0 * x1), both products of matrices of this size.
Task TwoProducts(std::int64_t size) {
  const Shape square{size, size};
  Task task = Operator("aten.mm.default", {square, square}, square);
  GraphNode second{"z", "aten.mm.default",    {Named("x1"), Named("y")},
                   {},  {Float("z", square)}, {{}}};
  task.graph.insert(task.graph.end() - 1, second);
  task.graph.back().args = {Named("z")};
  return task;
}

TEST(TritonModuleTest, AKernelThatDiffersInItsNamesAloneIsLaunchedAgain) {
  const std::string text = TextOf(TwoProducts(96));
  EXPECT_EQ(Times(text, "def "), 2U);  // the kernel and run
  EXPECT_THAT(text, HasSubstr("y_kernel_built[(6, 1, 1)](x0, x1, y)"));
  EXPECT_THAT(text, HasSubstr("y_kernel_built[(6, 1, 1)](x1, y, out)"));
}

TEST(TritonModuleTest, KernelsOfOtherOperatorsAreNotTakenForOne) {
  Task task = Operator("aten.amax.default", {{64, 700}}, {64});
  const ScalarValue rows{.kind = Kind::kList, .items = {Number(1)}};
  task.graph[1].args.push_back(rows);
  GraphNode least{"z", "aten.amin.default", {Named("x0"), rows}, {}, {Float("z", {64})}, {{}}};
  task.graph.insert(task.graph.end() - 1, least);
  task.graph.back().args.push_back(Named("z"));
  task.outputs.push_back(Float("out_1", {64}));
  const std::string text = TextOf(task);
  EXPECT_THAT(text, HasSubstr("larger_of"));
  EXPECT_THAT(text, HasSubstr("smaller_of"));
}

struct Form {
  std::int64_t batch = 8;
  std::int64_t channels = 64;
  std::int64_t side = 112;
  std::int64_t taps = 3;
  std::int64_t stride = 1;
  bool transposed = false;
};

// Returns the task of a convolution into 64 channels with the border that keeps the size.
Task Convolution(const Form& form) {
  const std::int64_t border = form.taps / 2;
  const std::int64_t out =
      form.transposed ? (form.side - 1) * form.stride + 1 : (form.side - 1) / form.stride + 1;
  const Shape weight = form.transposed ? Shape{form.channels, 64, form.taps, form.taps}
                                       : Shape{64, form.channels, form.taps, form.taps};
  Task task = Operator("aten.convolution.default",
                       {{form.batch, form.channels, form.side, form.side}, weight},
                       {form.batch, 64, out, out});
  const auto both = [](std::int64_t value) {
    return ScalarValue{.kind = Kind::kList, .items = {Number(value), Number(value)}};
  };
  const ScalarValue no_bias{.kind = Kind::kNone};
  const ScalarValue flag{.kind = Kind::kBool, .integer = form.transposed ? 1 : 0};
  for (const ScalarValue& value :
       {no_bias, both(form.stride), both(border), both(1), flag, both(0), Number(1)})
    task.graph[2].args.push_back(value);
  return task;
}

TEST(TritonModuleTest, LargeConvolutionsArePackedInTwoParts) {
  const std::string text = TextOf(Convolution({}));
  EXPECT_THAT(text, HasSubstr("input_high, input_low over [8, 114, 114, 64]"));  // by one kernel
  EXPECT_EQ(Times(text, "input_precision=\"tf32\""), 3U);
  EXPECT_THAT(text, Not(HasSubstr("tf32x3")));
  EXPECT_THAT(TextOf(Convolution({.side = 14})), HasSubstr("tf32x3"));
}

TEST(TritonModuleTest, ChannelsOfImagesArePaddedToWholeLoads) {
  const Form stem{.batch = 32, .channels = 3, .side = 224, .taps = 7, .stride = 2};
  EXPECT_THAT(TextOf(Convolution(stem)), HasSubstr("over [32, 229, 229, 4]"));
  Form two = stem;
  two.channels = 2;  // half of what is loaded would be zeros
  EXPECT_THAT(TextOf(Convolution(two)), HasSubstr("tf32x3"));
}

TEST(TritonModuleTest, PartsOfATransposedConvolutionReadOnePackedInput) {
  const std::string text = TextOf(Convolution({.stride = 2, .transposed = true}));
  EXPECT_EQ(Times(text, "# input_high, input_low over"), 1U);
  EXPECT_EQ(Times(text, "input_precision=\"tf32\""), 4U * 3);
}

}  // namespace
}  // namespace pragma::expert
