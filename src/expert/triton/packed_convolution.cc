#include "expert/triton/packed_convolution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/triton/channels_last.h"

namespace pragma::expert::triton {
namespace {

constexpr std::int64_t kFewestChannels = 16;

bool IsPlainProduct(const ConvolutionHint& form) {
  const auto all = [](const Shape& numbers, std::int64_t value) {
    return std::ranges::all_of(numbers, [value](std::int64_t n) { return n == value; });
  };
  return all(form.kernel, 1) && all(form.stride, 1) && all(form.padding, 0);
}

bool MayBePacked(const Program& program, const Step& step) {
  if (!step.convolution || step.parts != 1) return false;
  const ConvolutionHint& form = *step.convolution;
  const DType type = BufferOf(program, form.input).dtype;
  return (type == DType::kFloat16 || type == DType::kBFloat16) &&
         BufferOf(program, form.weight).dtype == type && form.groups == 1 && !form.transposed &&
         form.in_channels >= kFewestChannels && form.in_channels % kChannelUnit == 0 &&
         !IsPlainProduct(form);
}

// [batch, padded..., channels] from [batch, channels, in...].
Step PackedInput(Program& program, const Step& step) {
  const ConvolutionHint& form = *step.convolution;
  const std::size_t count = form.kernel.size();
  AffineForm address = FromChannelsFirst(form.batch, form.in_channels, form.in_size);
  Shape shape{form.batch};
  auto load = std::make_shared<Expr>();
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t size =
        (form.out_size[i] - 1) * form.stride[i] + (form.kernel[i] - 1) * form.dilation[i] + 1;
    shape.push_back(size);
    address.offset -= form.padding[i] * address.factor[1 + i];
    if (form.padding[i] == 0 && size <= form.in_size[i]) continue;
    AffineForm place = ZeroForm(count + 2);
    place.factor[1 + i] = 1;
    place.offset = -form.padding[i];
    load->load.bounds.push_back({place, form.in_size[i]});
  }
  shape.push_back(form.in_channels);
  load->op = ExprOp::kLoad;
  load->type = ExprType::kFloat;
  load->load.buffer = form.input;
  load->load.address = address;
  return Filled(program, step, "input", shape, load, BufferOf(program, form.input).dtype);
}

// [out channels, taps..., channels] from [out channels, channels, taps...].
Step PackedWeight(Program& program, const Step& step) {
  const ConvolutionHint& form = *step.convolution;
  const AffineForm address = FromChannelsFirst(form.out_channels, form.in_channels, form.kernel);
  Shape shape{form.out_channels};
  shape.insert(shape.end(), form.kernel.begin(), form.kernel.end());
  shape.push_back(form.in_channels);
  return Filled(program, step, "weight", shape, LoadOf(form.weight, address, ExprType::kFloat),
                BufferOf(program, form.weight).dtype);
}

// The product over [batch, out channels, out..., taps..., channels].
Step ProductOfPacked(const Step& step, const Step& input, const Step& weight) {
  const ConvolutionHint& form = *step.convolution;
  const std::size_t count = form.kernel.size();
  Step product = step;
  product.convolution.reset();
  product.shape = {form.batch, form.out_channels};
  product.shape.insert(product.shape.end(), form.out_size.begin(), form.out_size.end());
  product.shape.insert(product.shape.end(), form.kernel.begin(), form.kernel.end());
  product.shape.push_back(form.in_channels);
  const std::size_t rank = product.shape.size();
  AffineForm left = ZeroForm(rank);
  AffineForm right = ZeroForm(rank);
  left.factor[1] = weight.place.factor[0];
  right.factor[0] = input.place.factor[0];
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t line = input.place.factor[1 + i];
    right.factor[2 + i] = line * form.stride[i];
    right.factor[2 + count + i] = line * form.dilation[i];
    left.factor[2 + count + i] = weight.place.factor[1 + i];
  }
  left.factor[rank - 1] = right.factor[rank - 1] = 1;
  product.expr = Make(ExprOp::kMultiply, {LoadOf(input.buffer, right, ExprType::kFloat),
                                          LoadOf(weight.buffer, left, ExprType::kFloat)});
  product.folded.assign(rank, false);
  std::fill(product.folded.begin() + static_cast<std::ptrdiff_t>(2 + count), product.folded.end(),
            true);
  // The step's own dimensions begin with [batch, groups], and there is one group.
  AffineForm place = ZeroForm(rank);
  place.offset = step.place.offset;
  place.factor[0] = step.place.factor[0];
  for (std::size_t i = 0; i <= count; ++i) place.factor[1 + i] = step.place.factor[2 + i];
  product.place = place;
  return product;
}

}  // namespace

void PackConvolutions(Program& program) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    if (!MayBePacked(program, program.steps[s])) continue;
    const Step step = program.steps[s];
    const Step input = PackedInput(program, step);
    const Step weight = PackedWeight(program, step);
    program.steps[s] = ProductOfPacked(step, input, weight);
    program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(s), {input, weight});
    s += 2;
  }
}

}  // namespace pragma::expert::triton
