// Tests what the expert writes in Triton for types of 16 bits. The values are tested in Triton's
// interpreter (tests/expert/modules/sixteen_bits.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/lower/lowering.h"
#include "expert/plan/variant.h"
#include "expert/triton/module.h"

namespace pragma::expert {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = ScalarValue::Kind;

TensorSpec Narrow(const std::string& name, const Shape& shape) {
  return {name, name, TensorRole::kInput, DType::kBFloat16, shape};
}
ScalarValue NodeNamed(const std::string& name) { return {.kind = Kind::kNode, .text = name}; }
ScalarValue NoTensor() { return {.kind = Kind::kNone}; }
ScalarValue IntOf(std::int64_t value) { return {.kind = Kind::kInt, .integer = value}; }
ScalarValue ListOf(const std::vector<std::int64_t>& values) {
  ScalarValue list{.kind = Kind::kList};
  for (const std::int64_t value : values) list.items.push_back(IntOf(value));
  return list;
}

// Returns the Triton text of out = op(arguments..., more...), all in bfloat16.
std::string TextOfNarrow(const std::string& op, const std::vector<Shape>& shapes,
                         const Shape& result, const std::vector<ScalarValue>& more = {},
                         const std::string& variant = "", const KernelTarget& target = {}) {
  Task task;
  task.name = "one";
  GraphNode node{"y", op, {}, {}, {Narrow("y", result)}, {{}}};
  for (const Shape& shape : shapes) {
    const std::string name = "x" + std::to_string(task.arguments.size());
    task.arguments.push_back(Narrow(name, shape));
    task.graph.push_back({name, "placeholder", {}, {}, {Narrow(name, shape)}, {{}}});
    node.args.push_back(NodeNamed(name));
  }
  node.args.insert(node.args.end(), more.begin(), more.end());
  task.graph.push_back(node);
  task.graph.push_back({"output", "output", {NodeNamed("y")}, {}, {}, {}});
  task.outputs = {Narrow("out", result)};
  return EmitTriton(task, *LowerTask(task, kForTriton), VariantFromText(variant), target).source;
}

// One operator of a graph, with its result's shape.
struct Line {
  std::string name;
  std::string op;
  std::vector<ScalarValue> args;
  Shape shape;
};

// Returns the Triton text of a graph in bfloat16, whose result is that of its last line.
std::string TextOfLines(const std::vector<Shape>& shapes, const std::vector<Line>& lines) {
  Task task;
  task.name = "several";
  for (const Shape& shape : shapes) {
    const std::string name = "x" + std::to_string(task.arguments.size());
    task.arguments.push_back(Narrow(name, shape));
    task.graph.push_back({name, "placeholder", {}, {}, {Narrow(name, shape)}, {{}}});
  }
  for (const Line& line : lines)
    task.graph.push_back(
        {line.name, line.op, line.args, {}, {Narrow(line.name, line.shape)}, {{}}});
  task.graph.push_back({"output", "output", {NodeNamed(lines.back().name)}, {}, {}, {}});
  task.outputs = {Narrow("out", lines.back().shape)};
  return EmitTriton(task, *LowerTask(task, kForTriton), VariantFromText("")).source;
}

std::size_t KernelsIn(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find("_kernel("); at != std::string::npos;
       at = text.find("_kernel(", at + 1))
    ++count;
  return count;
}

TEST(SixteenBits, HalvesOfOneTensorAreChosenWhereTheyAreRead) {
  const Shape half{64, 32};
  ScalarValue halves{.kind = Kind::kList};
  halves.items = {NodeNamed("minus"), NodeNamed("low")};
  const std::string text = TextOfLines(
      {{64, 64}, {64, 64}},
      {{"low", "aten.slice.Tensor", {NodeNamed("x0"), IntOf(1), IntOf(0), IntOf(32)}, half},
       {"high", "aten.slice.Tensor", {NodeNamed("x0"), IntOf(1), IntOf(32), IntOf(64)}, half},
       {"minus", "aten.neg.default", {NodeNamed("high")}, half},
       {"turned", "aten.cat.default", {halves, IntOf(-1)}, {64, 64}},
       {"y", "aten.mul.Tensor", {NodeNamed("turned"), NodeNamed("x1")}, {64, 64}}});
  EXPECT_EQ(KernelsIn(text), 1U) << text;
  EXPECT_THAT(text, HasSubstr("tl.where("));
}

TEST(SixteenBits, PartsOfSeveralTensorsAreCopiedSideBySide) {
  ScalarValue parts{.kind = Kind::kList};
  parts.items = {NodeNamed("x0"), NodeNamed("x1")};
  const std::string text = TextOfLines({{64, 32}, {64, 32}},
                                       {{"whole", "aten.cat.default", {parts, IntOf(1)}, {64, 64}},
                                        {"y", "aten.exp.default", {NodeNamed("whole")}, {64, 64}}});
  EXPECT_THAT(text, Not(HasSubstr("tl.where(")));
}

TEST(SixteenBits, AnAttentionOfGroupedHeadsStoresItsRowsWhereTheyAreMultiplied) {
  const ScalarValue no{.kind = Kind::kBool};
  const ScalarValue yes{.kind = Kind::kBool, .integer = 1};
  const Line seen{"seen",
                  "aten.scaled_dot_product_attention.default",
                  {NodeNamed("x0"), NodeNamed("x1"), NodeNamed("x1"), NoTensor(), IntOf(0), no,
                   NoTensor(), yes},
                  {1, 8, 128, 64}};
  const Line turned{
      "turned", "aten.permute.default", {NodeNamed("seen"), ListOf({0, 2, 1, 3})}, {1, 128, 8, 64}};
  const Line rows{
      "rows", "aten.view.default", {NodeNamed("turned"), ListOf({128, 512})}, {128, 512}};
  const Line last{"y", "aten.mm.default", {NodeNamed("rows"), NodeNamed("x2")}, {128, 512}};
  const std::string text =
      TextOfLines({{1, 8, 128, 64}, {1, 2, 128, 64}, {512, 512}}, {seen, turned, rows, last});
  EXPECT_EQ(KernelsIn(text), 2U) << text;
}

TEST(SixteenBits, HeadsThatWereRepeatedForAnAttentionAreReadOnce) {
  const Line apart{
      "apart", "aten.unsqueeze.default", {NodeNamed("x1"), IntOf(2)}, {2, 3, 1, 64, 32}};
  const Line wide{"wide",
                  "aten.expand.default",
                  {NodeNamed("apart"), ListOf({2, 3, 4, 64, 32})},
                  {2, 3, 4, 64, 32}};
  const Line copied{"copied", "aten.clone.default", {NodeNamed("wide")}, {2, 3, 4, 64, 32}};
  const Line heads{"heads",
                   "aten.view.default",
                   {NodeNamed("copied"), ListOf({2, 12, 64, 32})},
                   {2, 12, 64, 32}};
  const Line last{"y",
                  "aten.scaled_dot_product_attention.default",
                  {NodeNamed("x0"), NodeNamed("heads"), NodeNamed("heads")},
                  {2, 12, 40, 32}};
  const std::string text =
      TextOfLines({{2, 12, 40, 32}, {2, 3, 64, 32}}, {apart, wide, copied, heads, last});
  EXPECT_EQ(KernelsIn(text), 1U) << text;
}

TEST(SixteenBits, ShortDepthsHaveTwoTilesOnEachProcessor) {
  const std::string text =
      TextOfNarrow("aten.mm.default", {{12608, 768}, {768, 768}}, {12608, 768});
  EXPECT_THAT(text, HasSubstr("y_kernel_built[(264, 1, 1)](x0, x1, out)"));
  EXPECT_THAT(text, HasSubstr("BLOCK_N: tl.constexpr = 128"));
}

TEST(SixteenBits, ProductsOfFewTilesAreLoadedByPointers) {
  EXPECT_THAT(TextOfNarrow("aten.mm.default", {{2048, 4096}, {4096, 512}}, {2048, 512}),
              Not(HasSubstr("make_tensor_descriptor")));
}

TEST(SixteenBits, AttentionTakesFewerKeysAtATimeWhereABlockWouldBeEmpty) {
  const std::string op = "aten.scaled_dot_product_attention.default";
  const auto text = [&](std::int64_t keys) {
    const Shape heads{64, 12, keys, 64};
    return TextOfNarrow(op, {heads, heads, heads}, heads);
  };
  EXPECT_THAT(text(197), HasSubstr("BLOCK_N: tl.constexpr = 32"));
  EXPECT_THAT(text(256), HasSubstr("BLOCK_N: tl.constexpr = 64"));
}

TEST(SixteenBits, LongHeadsTakeSmallerBlocksThatFit) {
  const std::string op = "aten.scaled_dot_product_attention.default";
  const auto text = [&](std::int64_t queries, std::int64_t head) {
    const Shape query{4, 8, queries, head};
    const Shape keys{4, 8, 1024, head};
    return TextOfNarrow(op, {query, keys, keys}, query);
  };
  EXPECT_THAT(text(1024, 128), HasSubstr("BLOCK_N: tl.constexpr = 128"));  // measured
  EXPECT_THAT(text(1024, 256), HasSubstr("{\"BLOCK_M\": 128, \"BLOCK_N\": 32}, num_warps=8"));
  EXPECT_THAT(text(1024, 256), Not(HasSubstr("\"BLOCK_N\": 128}")));
  EXPECT_THAT(text(16, 128), HasSubstr("BLOCK_N: tl.constexpr = 128"));
  EXPECT_THAT(text(16, 256), HasSubstr("BLOCK_N: tl.constexpr = 64"));
}

TEST(SixteenBits, BlocksFitIntoTheSharedMemoryOfTheCard) {
  const Shape square{4096, 4096};
  const Shape heads{4, 8, 1024, 128};
  const Shape query{4, 8, 16, 128};
  const auto product = [&](const KernelTarget& card) {
    return TextOfNarrow("aten.mm.default", {square, square}, square, {}, "", card);
  };
  const auto attention = [](const Shape& rows, const Shape& keys, const KernelTarget& card) {
    return TextOfNarrow("aten.scaled_dot_product_attention.default", {rows, keys, keys}, rows, {},
                        "", card);
  };
  const KernelTarget large;
  const KernelTarget small{.block_shared_bytes = 99 << 10};
  EXPECT_THAT(product(large), HasSubstr("BLOCK_N: tl.constexpr = 256"));
  // Nothing is measured there, so that the tuner chooses.
  EXPECT_THAT(product(small), HasSubstr("\"BLOCK_N\": 128, \"BLOCK_K\": 32, \"PROGRAMS\""));
  EXPECT_THAT(product(small), Not(HasSubstr("\"BLOCK_N\": 256")));
  EXPECT_THAT(attention(heads, heads, large), HasSubstr("BLOCK_N: tl.constexpr = 128"));
  EXPECT_THAT(attention(heads, heads, small), Not(HasSubstr("\"BLOCK_N\": 128")));
  EXPECT_THAT(attention(query, heads, small), HasSubstr("BLOCK_N: tl.constexpr = 32"));
}

TEST(SixteenBits, AreMultipliedAsTheyAreStored) {
  const std::string text = TextOfNarrow("aten.mm.default", {{512, 512}, {512, 512}}, {512, 512});
  EXPECT_THAT(text, HasSubstr("total = tl.dot(x0_value, x1_value, total)"));
  EXPECT_THAT(text, Not(HasSubstr("tf32")));
}

TEST(SixteenBits, InPlainFp32AreConverted) {
  const std::string text =
      TextOfNarrow("aten.mm.default", {{512, 512}, {512, 512}}, {512, 512}, {}, "precision=1");
  EXPECT_THAT(text, HasSubstr("input_precision=\"ieee\""));
}

TEST(SixteenBits, LargeProductsAreLoadedByDescriptors) {
  const Shape square{4096, 4096};
  const std::string text = TextOfNarrow("aten.mm.default", {square, square}, square);
  EXPECT_THAT(text, HasSubstr("left = tl.make_tensor_descriptor(x0, [4096, 4096], [4096, 1], "
                              "[BLOCK_M, BLOCK_K])"));
  EXPECT_THAT(text, HasSubstr("tiles_m * tiles_n, PROGRAMS, flatten=True)"));
  EXPECT_THAT(text, HasSubstr("y_kernel_built[(132, 1, 1)](x0, x1, out)"));  // nothing to tune
  EXPECT_THAT(TextOfNarrow("aten.mm.default", {square, square}, square, {}, "tune=2"),
              HasSubstr("min(meta[\"PROGRAMS\"], "));
  EXPECT_THAT(TextOfNarrow("aten.mm.default", {square, square}, square, {}, "descriptors=1"),
              Not(HasSubstr("make_tensor_descriptor")));
}

TEST(SixteenBits, LinesThatBeginAtOddPlacesAreCopied) {
  const std::string text =
      TextOfNarrow("aten.mm.default", {{2047, 1025}, {1025, 1535}}, {2047, 1535});
  EXPECT_THAT(text, HasSubstr("tl.make_tensor_descriptor(x0_even, [2047, 1025], [1032, 1]"));
  EXPECT_THAT(text, HasSubstr("tl.make_tensor_descriptor(x1_even, [1025, 1535], [1536, 1]"));
}

TEST(SixteenBits, PartsOfASumStayInFp32) {
  const std::string text =
      TextOfNarrow("aten.mm.default", {{128, 32768}, {32768, 128}}, {128, 128});
  EXPECT_THAT(text, HasSubstr("out_parts = torch.empty("));
  EXPECT_THAT(text, HasSubstr(", dtype=torch.float32, device="));
}

TEST(SixteenBits, AttentionIsOneKernelUnlessItIsAskedFor) {
  const Shape heads{2, 4, 100, 64};
  const std::string op = "aten.scaled_dot_product_attention.default";
  const std::string text = TextOfNarrow(op, {heads, heads, heads}, heads);
  EXPECT_THAT(text, HasSubstr("weight = tl.exp2((score - larger[:, None]) * "));
  EXPECT_THAT(text, Not(HasSubstr("torch.empty(")));  // the scores are never in memory
  EXPECT_THAT(TextOfNarrow(op, {heads, heads, heads}, heads, {}, "attention=1"),
              HasSubstr("torch.empty("));
}

TEST(SixteenBits, ConvolutionsOfManyChannelsArePackedChannelsLast) {
  const std::vector<ScalarValue> form{NoTensor(),     ListOf({1, 1}),        ListOf({1, 1}),
                                      ListOf({1, 1}), {.kind = Kind::kBool}, ListOf({0, 0}),
                                      IntOf(1)};
  const std::string text = TextOfNarrow("aten.convolution.default",
                                        {{2, 32, 20, 20}, {16, 32, 3, 3}}, {2, 16, 20, 20}, form);
  EXPECT_THAT(text, HasSubstr("# input over [2, 22, 22, 32]"));
  EXPECT_THAT(text, HasSubstr("program = tl.program_id(0)"));  // the input is turned in tiles
  EXPECT_THAT(TextOfNarrow("aten.convolution.default", {{2, 3, 20, 20}, {16, 3, 3, 3}},
                           {2, 16, 20, 20}, form),
              Not(HasSubstr("# input over")));
}

int CountOf(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string TextOfDepthwise(std::int64_t side, std::int64_t taps) {
  const std::int64_t border = taps / 2;
  const std::vector<ScalarValue> form{
      NoTensor(),     ListOf({1, 1}),        ListOf({border, border}),
      ListOf({1, 1}), {.kind = Kind::kBool}, ListOf({0, 0}),
      IntOf(32)};
  return TextOfNarrow("aten.convolution.default", {{2, 32, side, side}, {32, 1, taps, taps}},
                      {2, 32, side, side}, form);
}

TEST(SixteenBits, DepthwiseConvolutionsOfManyTapsHaveTheirChannelsInnermost) {
  EXPECT_THAT(TextOfDepthwise(19, 7), HasSubstr("over [2, 19, 19, 32, 7, 7]"));
  EXPECT_THAT(TextOfDepthwise(20, 3), HasSubstr("over [2, 32, 20, 20, 3, 3]"));
}

TEST(SixteenBits, DepthwiseConvolutionsKeepSeveralResultsOfALineInRegisters) {
  const std::string groups = TextOfDepthwise(20, 7);
  EXPECT_THAT(groups, HasSubstr("over [2, 20, 2, 32, 7]"));  // groups of ten
  EXPECT_THAT(groups, HasSubstr("row_2 * 10 - 3 >= 0"));
  // One group holds the whole line: what is left or right of it is not loaded at all.
  const std::string line = TextOfDepthwise(14, 7);
  EXPECT_THAT(line, HasSubstr("over [2, 14, 32, 7]"));
  EXPECT_EQ(CountOf(line, "tl.load(y_input +"), 14);
  EXPECT_EQ(CountOf(line, "tl.load(y_weight +"), 7);
}

}  // namespace
}  // namespace pragma::expert
