// Convolutions as sums over channels and taps (ir/convolution_lines.h).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/convolution_lines.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

// The operands as loads: input [batch, groups, channels, in...], weight [groups, out, in, taps...].
struct ConvOperands {
  Value input;
  Value weight;
};

// Number of leading dimensions. The loop nest is [batch, groups, out channels, out..., in channels,
// taps...].
constexpr std::size_t kLead = 3;

ExprPtr InputOf(ProgramBuilder& builder, const ConvOperands& operands,
                const std::vector<ConvolutionLine>& lines, const Shape& shape) {
  const std::size_t count = lines.size();
  IndexMap map{shape.size(), {}};
  std::vector<Bound> bounds;
  for (const std::size_t place : {std::size_t{0}, std::size_t{1}, kLead + count}) {
    map.index.push_back(ZeroForm(map.rank));
    map.index.back().factor[place] = 1;
  }
  for (std::size_t i = 0; i < count; ++i) {
    AffineForm form = ZeroForm(map.rank);
    form.factor[kLead + i] = lines[i].in_step;
    form.factor[kLead + count + 1 + i] = lines[i].in_tap;
    form.offset = lines[i].in_offset;
    const std::int64_t size = operands.input.shape[3 + i];
    const bool leaves = lines[i].Lowest() < 0 || lines[i].Highest() >= size;
    if (leaves) bounds.push_back({form, size});
    map.index.push_back(std::move(form));
  }
  auto load = std::make_shared<Expr>(*builder.Mapped(operands.input, map, shape).expr);
  load->load.bounds = std::move(bounds);
  return load;
}

ExprPtr WeightOf(ProgramBuilder& builder, const ConvOperands& operands,
                 const std::vector<ConvolutionLine>& lines, const Shape& shape) {
  const std::size_t count = lines.size();
  IndexMap map{shape.size(), {}};
  for (const std::size_t place : {std::size_t{1}, std::size_t{2}, kLead + count}) {
    map.index.push_back(ZeroForm(map.rank));
    map.index.back().factor[place] = 1;
  }
  for (std::size_t i = 0; i < count; ++i) {
    map.index.push_back(ZeroForm(map.rank));
    map.index.back().factor[kLead + count + 1 + i] = lines[i].tap_step;
    map.index.back().offset = lines[i].tap_first;
  }
  return builder.Mapped(operands.weight, map, shape).expr;
}

// Adds the step for the part of the output that these lines cover.
void AddPart(ProgramBuilder& builder, const ConvolutionHint& form, const ConvOperands& operands,
             const std::vector<ConvolutionLine>& lines, int buffer) {
  const std::size_t count = lines.size();
  Shape shape{form.batch, form.groups, form.out_channels / form.groups};
  AffineForm place =
      ContiguousForm(builder.program().buffers[static_cast<std::size_t>(buffer)].shape);
  bool empty = false;
  for (std::size_t i = 0; i < count; ++i) {
    shape.push_back(lines[i].count);
    place.offset += lines[i].first * place.factor[kLead + i];
    place.factor[kLead + i] *= lines[i].step;
    empty = empty || lines[i].taps == 0;
  }
  const DType dtype = operands.input.dtype;
  const ExprType type = ComputeType(dtype);
  if (empty) return builder.StoreInto({Constant(0, type), shape, shape, dtype}, buffer, place);
  shape.push_back(form.in_channels / form.groups);
  for (const ConvolutionLine& line : lines) shape.push_back(line.taps);
  const ExprPtr product = Make(ExprOp::kMultiply, {InputOf(builder, operands, lines, shape),
                                                   WeightOf(builder, operands, lines, shape)});
  place.factor.resize(shape.size(), 0);
  builder.StoreInto({product, shape, shape, dtype}, buffer, place);
  Step& step = builder.last();
  step.kind = Step::Kind::kFold;
  for (std::size_t i = kLead + count; i < shape.size(); ++i) step.folded[i] = true;
}

ConvolutionHint FormOf(const NodeView& node, const Value& input, const Value& weight) {
  const std::size_t count = input.shape.size() - 2;
  ConvolutionHint form;
  form.transposed = node.Flag(6, "transposed", false);
  form.groups = node.Int(8, "groups", 1);
  form.batch = input.shape[0];
  form.in_channels = input.shape[1];
  form.out_channels = node.shape()[1];
  form.in_size = {input.shape.begin() + 2, input.shape.end()};
  form.out_size = {node.shape().begin() + 2, node.shape().end()};
  form.kernel = {weight.shape.begin() + 2, weight.shape.end()};
  form.stride = node.Ints(3, "stride", count, 1);
  form.padding = node.Ints(4, "padding", count, 0);
  form.dilation = node.Ints(5, "dilation", count, 1);
  return form;
}

ConvOperands OperandsOf(ProgramBuilder& builder, const ConvolutionHint& form, const Value& input,
                        const Value& weight) {
  Shape in{form.batch, form.groups, form.in_channels / form.groups};
  in.insert(in.end(), form.in_size.begin(), form.in_size.end());
  const std::int64_t rows = weight.shape[0] / form.groups;
  Shape taps{form.groups, rows, weight.shape[1]};
  taps.insert(taps.end(), form.kernel.begin(), form.kernel.end());
  ConvOperands operands{builder.Settled(builder.Reshaped(input, in)),
                        builder.Settled(builder.Reshaped(weight, taps))};
  if (form.transposed) {
    std::vector<std::int64_t> order(taps.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[1], order[2]);
    std::swap(taps[1], taps[2]);
    operands.weight = builder.Mapped(operands.weight, PermuteMap(order), taps);
  }
  return operands;
}

}  // namespace

Result<std::vector<Value>> LowerConvolution(ProgramBuilder& builder, const NodeView& node);

Result<std::vector<Value>> LowerConvolution(ProgramBuilder& builder, const NodeView& node) {
  const Value input = builder.Stored(node.Tensor(0));
  const Value weight = builder.Stored(node.Tensor(1));
  ConvolutionHint form = FormOf(node, input, weight);
  form.input = input.expr->load.buffer;
  form.weight = weight.expr->load.buffer;
  const ConvOperands operands = OperandsOf(builder, form, input, weight);
  Shape whole{form.batch, form.groups, form.out_channels / form.groups};
  whole.insert(whole.end(), form.out_size.begin(), form.out_size.end());
  const int buffer = builder.NewBuffer(node.dtype(), whole);
  const std::size_t first = builder.program().steps.size();
  for (const std::vector<ConvolutionLine>& lines : ConvolutionParts(form))
    AddPart(builder, form, operands, lines, buffer);
  Step& step = builder.program().steps[first];
  step.convolution = form;
  step.parts = static_cast<int>(builder.program().steps.size() - first);
  Value result = builder.Settled(builder.Reshaped(builder.Whole(buffer), node.shape()));
  if (!node.IsTensor(2)) return std::vector{result};
  Shape channel(node.shape().size(), 1);
  channel[1] = form.out_channels;
  const Value bias = builder.Reshaped(node.Tensor(2), channel);
  return std::vector{
      builder.Pointwise({result, bias}, ComputeType(node.dtype()), node.dtype(),
                        [](const std::vector<ExprPtr>& args) { return Make(ExprOp::kAdd, args); })};
}

}  // namespace pragma::expert
