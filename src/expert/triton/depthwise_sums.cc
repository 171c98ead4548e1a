#include "expert/triton/depthwise_sums.h"

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

// A group's results and the taps of a line stay in registers. On an H200, 14 results of 7 x 7 taps
// take 0.4 of the time of single ones, and 7 take 0.48.
constexpr std::int64_t kMostResults = 14;
constexpr std::int64_t kFewestResults = 4;
constexpr std::int64_t kMostTapsOfLine = 16;

// Returns how many neighbouring results make a group.
std::int64_t GroupOf(const ConvolutionHint& form) {
  if (form.kernel.size() < 2 || form.kernel.back() > kMostTapsOfLine) return 1;
  for (std::int64_t size = kMostResults; size >= kFewestResults; --size)
    if (form.out_size.back() % size == 0) return size;
  return 1;
}

// Writes the steps over [batch, out..., channels, taps...], with groups along the last dimension of
// `out`. The first dimensions of the taps are loops; those from `unrolled` on are terms of the sum.
class SumWriter final {
 public:
  SumWriter(const Step& convolution, const Step& input, const Step& weight, std::int64_t group)
      : form_(*convolution.convolution),
        input_(input),
        weight_(weight),
        group_(group),
        channel_(form_.out_size.size() + 1),
        loops_(form_.kernel.size() - (group > 1 ? 1 : 0)) {}

  // Returns the step that writes one result of each group.
  [[nodiscard]] Step SumOf(const Step& whole, std::int64_t result) const {
    Step sum = whole;
    const std::size_t line = form_.out_size.size();
    sum.place.factor[line] *= group_;
    sum.place.offset += result * whole.place.factor[line];
    sum.shape[line] /= group_;
    for (std::size_t i = 0; i < loops_; ++i) sum.shape.push_back(form_.kernel[i]);
    sum.place.factor.resize(sum.shape.size(), 0);
    sum.folded.resize(sum.shape.size(), true);
    sum.beside = group_ > 1;
    sum.expr = group_ > 1 ? Terms(sum.shape, result) : Term(sum.shape, 0, 0);
    return sum;
  }

 private:
  [[nodiscard]] ExprPtr Terms(const Shape& shape, std::int64_t result) const {
    ExprPtr sum;
    for (std::int64_t tap = 0; tap < form_.kernel.back(); ++tap) {
      const ExprPtr term = Term(shape, result, tap);
      if (term) sum = sum ? Make(ExprOp::kAdd, {sum, term}) : term;
    }
    return sum ? sum : Constant(0, ExprType::kFloat);
  }

  // Returns an element times its weight. Returns null if the element is outside of every input.
  [[nodiscard]] ExprPtr Term(const Shape& shape, std::int64_t result, std::int64_t tap) const {
    auto left =
        std::make_shared<Expr>(*LoadOf(input_.buffer, ZeroForm(shape.size()), ExprType::kFloat));
    AffineForm right = ZeroForm(shape.size());
    left->load.address.factor[0] = input_.place.factor[0];
    left->load.address.factor[channel_] = right.factor[channel_] = 1;
    for (std::size_t i = 0; i < form_.kernel.size(); ++i) {
      const AffineForm place = PlaceOf(shape, i, result, tap);
      const std::int64_t line = input_.place.factor[1 + i];
      for (std::size_t d = 0; d < shape.size(); ++d)
        left->load.address.factor[d] += place.factor[d] * line;
      left->load.address.offset += place.offset * line;
      if (i < loops_) {
        right.factor[channel_ + 1 + i] = weight_.place.factor[i];
      } else {
        right.offset += tap * weight_.place.factor[i];
      }
      const std::int64_t last = place.offset + Reach(place, shape);
      if (last < 0 || place.offset >= form_.in_size[i]) return nullptr;
      if (place.offset < 0 || last >= form_.in_size[i])
        left->load.bounds.push_back({place, form_.in_size[i]});
    }
    return Make(ExprOp::kMultiply, {left, LoadOf(weight_.buffer, right, ExprType::kFloat)});
  }

  // Returns where an element is along one dimension of the input. It may be outside.
  [[nodiscard]] AffineForm PlaceOf(const Shape& shape, std::size_t i, std::int64_t result,
                                   std::int64_t tap) const {
    const bool last = i + 1 == form_.kernel.size();
    AffineForm place = ZeroForm(shape.size());
    place.factor[1 + i] = form_.stride[i] * (last ? group_ : 1);
    place.offset = (last ? result * form_.stride[i] : 0) - form_.padding[i];
    if (i < loops_) {
      place.factor[channel_ + 1 + i] = form_.dilation[i];
    } else {
      place.offset += tap * form_.dilation[i];
    }
    return place;
  }

  static std::int64_t Reach(const AffineForm& place, const Shape& shape) {
    std::int64_t reach = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) reach += place.factor[d] * (shape[d] - 1);
    return reach;
  }

  const ConvolutionHint& form_;
  const Step& input_;
  const Step& weight_;
  std::int64_t group_;
  std::size_t channel_;  // the dimension of the channels
  std::size_t loops_;    // number of dimensions of the taps that are loops
};

}  // namespace

std::vector<Step> DepthwiseSums(Program& program, const Step& convolution, const Step& input,
                                const Step& weight) {
  const ConvolutionHint& form = *convolution.convolution;
  Step whole = Filled(program, convolution, "pixels",
                      ChannelsLast(form.batch, form.out_size, form.out_channels), nullptr,
                      BufferOf(program, convolution.buffer).dtype);
  whole.kind = Step::Kind::kFold;
  whole.fold = Fold::kSum;
  whole.name = convolution.name;
  whole.what = convolution.what;
  const std::int64_t group = GroupOf(form);
  const SumWriter writer(convolution, input, weight, group);
  std::vector<Step> sums;
  for (std::int64_t result = 0; result < group; ++result)
    sums.push_back(writer.SumOf(whole, result));
  return sums;
}

}  // namespace pragma::expert::triton
