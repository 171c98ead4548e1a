#include "expert/triton/packed_convolution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/convolution_lines.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/contraction.h"
#include "expert/triton/channels_last.h"

namespace pragma::expert::triton {
namespace {

using Lines = std::vector<ConvolutionLine>;

constexpr std::int64_t kFewestChannels = 16;  // of 16 bits
// Channels of fp32 are padded to whole loads of 16 bytes where zeros are at most a quarter of them:
// the three channels of an image are.
constexpr std::int64_t kFp32Unit = 4;
constexpr std::int64_t kMostPadding = 4;
// For fp32: the fewest multiplications in all, and for each packed element of the input. Packing
// writes 8 bytes for each 4 of the input.
constexpr std::int64_t kWorthPackingFp32 = std::int64_t{1} << 31;
constexpr std::int64_t kReuseOfFp32 = 64;

bool IsPlainProduct(const ConvolutionHint& form) {
  const auto all = [](const Shape& numbers, std::int64_t value) {
    return std::ranges::all_of(numbers, [value](std::int64_t n) { return n == value; });
  };
  return all(form.kernel, 1) && all(form.stride, 1) && all(form.padding, 0);
}

bool IsEmpty(const Lines& lines) {
  return std::ranges::any_of(lines, [](const ConvolutionLine& line) { return line.taps == 0; });
}

// Returns value - high, or 0 where `high` is an infinity or NaN.
ExprPtr Rest(const ExprPtr& value, const ExprPtr& high) {
  const ExprPtr zero = Constant(0, ExprType::kFloat);
  const ExprPtr finite = Make(ExprOp::kEqual, {Make(ExprOp::kSubtract, {high, high}), zero});
  return Make(ExprOp::kSelect, {finite, Make(ExprOp::kSubtract, {value, high}), zero});
}

// The places of the input along one dimension that any part reads.
struct Span {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Writes the parts of one convolution as products of packed operands.
class ConvolutionPacker final {
 public:
  ConvolutionPacker(Program& program, std::size_t first)
      : program_(program),
        first_(first),
        of_(program.steps[first]),
        form_(*of_.convolution),
        parts_(ConvolutionParts(form_)),
        type_(BufferOf(program, form_.input).dtype),
        channels_(Splits() ? (form_.in_channels + kFp32Unit - 1) / kFp32Unit * kFp32Unit
                           : form_.in_channels) {
    for (std::size_t i = 0; i < form_.kernel.size(); ++i) spans_.push_back(SpanOf(i));
  }

  [[nodiscard]] bool MayPack(bool splits) const {
    if (BufferOf(program_, form_.weight).dtype != type_ || form_.groups != 1 ||
        IsPlainProduct(form_) || !HasAllParts())
      return false;
    if (type_ == DType::kFloat32)
      return splits && (channels_ - form_.in_channels) * kMostPadding <= channels_ &&
             IsWorthSplitting();
    return (type_ == DType::kFloat16 || type_ == DType::kBFloat16) &&
           form_.in_channels >= kFewestChannels && form_.in_channels % kChannelUnit == 0;
  }

  // Returns the number of steps that now stand where the convolution stood.
  std::size_t Pack() {
    PackInput();
    PackWeight();
    std::vector<Step> written = input_.steps;
    written.insert(written.end(), weight_.steps.begin(), weight_.steps.end());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Step& part = program_.steps[first_ + p];
      written.push_back(IsEmpty(parts_[p]) ? part : ProductOf(part, parts_[p]));
      written.back().convolution.reset();
      written.back().parts = 1;
    }
    const auto at = program_.steps.begin() + static_cast<std::ptrdiff_t>(first_);
    const auto next = program_.steps.erase(at, at + static_cast<std::ptrdiff_t>(parts_.size()));
    program_.steps.insert(next, written.begin(), written.end());
    return written.size();
  }

 private:
  // One buffer of values as they are, or one of fp32 values rounded to TF32 and one of what that
  // leaves.
  struct Packed {
    std::vector<Step> steps;
    AffineForm place;

    [[nodiscard]] ExprPtr Load(std::size_t part, const AffineForm& address) const {
      return LoadOf(steps[part].buffer, address, ExprType::kFloat);
    }
  };

  [[nodiscard]] bool Splits() const { return type_ == DType::kFloat32; }

  [[nodiscard]] bool HasAllParts() const {
    if (of_.parts != static_cast<int>(parts_.size()) ||
        first_ + parts_.size() > program_.steps.size())
      return false;
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (program_.steps[first_ + p].buffer != of_.buffer) return false;
    return true;
  }

  [[nodiscard]] bool IsWorthSplitting() const {
    std::int64_t multiplications = 0;
    for (const Lines& lines : parts_) {
      std::int64_t of_part = form_.batch * form_.out_channels * form_.in_channels;
      for (const ConvolutionLine& line : lines) of_part *= line.count * line.taps;
      multiplications += of_part;
    }
    const std::int64_t packed = Elements(InputShape());
    return multiplications >= kWorthPackingFp32 && multiplications / packed >= kReuseOfFp32;
  }

  [[nodiscard]] Span SpanOf(std::size_t dim) const {
    std::int64_t low = std::numeric_limits<std::int64_t>::max();
    std::int64_t high = std::numeric_limits<std::int64_t>::min();
    for (const ConvolutionLine& line : LinesOf(form_, dim)) {
      if (line.taps == 0) continue;
      low = std::min(low, line.Lowest());
      high = std::max(high, line.Highest());
    }
    return low > high ? Span{} : Span{low, high - low + 1};
  }

  [[nodiscard]] Shape InputShape() const {
    Shape shape{form_.batch};
    for (const Span& span : spans_) shape.push_back(span.count);
    shape.push_back(channels_);
    return shape;
  }

  // Adds the bound of the last dimension to a load that would read further channels.
  void BoundChannels(std::size_t rank, Load& load) const {
    if (channels_ == form_.in_channels) return;
    AffineForm channel = ZeroForm(rank);
    channel.factor.back() = 1;
    load.bounds.push_back({channel, form_.in_channels});
  }

  Packed Filling(const std::string& what, const Shape& shape, const ExprPtr& value) {
    Packed packed;
    packed.place = ContiguousForm(shape);
    if (!Splits()) {
      packed.steps.push_back(Filled(program_, of_, what, shape, value, type_));
      return packed;
    }
    const ExprPtr high = Make(ExprOp::kTf32, {value});
    packed.steps.push_back(Filled(program_, of_, what + "_high", shape, high, type_));
    packed.steps.push_back(Filled(program_, of_, what + "_low", shape, Rest(value, high), type_));
    return packed;
  }

  // [batch, places..., channels] from [batch, channels, in...], with zeros outside.
  void PackInput() {
    AffineForm address = FromChannelsFirst(form_.batch, form_.in_channels, form_.in_size);
    const Shape shape = InputShape();
    auto load = std::make_shared<Expr>();
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      address.offset += spans_[i].first * address.factor[1 + i];
      if (spans_[i].first >= 0 && spans_[i].first + spans_[i].count <= form_.in_size[i]) continue;
      AffineForm place = ZeroForm(shape.size());
      place.factor[1 + i] = 1;
      place.offset = spans_[i].first;
      load->load.bounds.push_back({place, form_.in_size[i]});
    }
    BoundChannels(shape.size(), load->load);
    load->op = ExprOp::kLoad;
    load->type = ExprType::kFloat;
    load->load.buffer = form_.input;
    load->load.address = address;
    input_ = Filling("input", shape, load);
  }

  // [out channels, taps..., channels] from [out channels, channels, taps...], or from [channels,
  // out channels, taps...] where the convolution is transposed.
  void PackWeight() {
    AffineForm address = FromChannelsFirst(form_.out_channels, form_.in_channels, form_.kernel);
    if (form_.transposed) {
      const std::int64_t taps = Elements(form_.kernel);
      address.factor.front() = taps;
      address.factor.back() = form_.out_channels * taps;
    }
    const Shape shape = ChannelsLast(form_.out_channels, form_.kernel, channels_);
    auto load = std::make_shared<Expr>(*LoadOf(form_.weight, address, ExprType::kFloat));
    BoundChannels(shape.size(), load->load);
    weight_ = Filling("weight", shape, load);
  }

  // The product over [batch, out channels, out..., taps..., channels].
  [[nodiscard]] Step ProductOf(const Step& part, const Lines& lines) const {
    const std::size_t count = lines.size();
    Step product = part;
    product.shape = {form_.batch, form_.out_channels};
    for (const ConvolutionLine& line : lines) product.shape.push_back(line.count);
    for (const ConvolutionLine& line : lines) product.shape.push_back(line.taps);
    product.shape.push_back(channels_);
    const std::size_t rank = product.shape.size();
    AffineForm left = ZeroForm(rank);
    AffineForm right = ZeroForm(rank);
    left.factor[1] = weight_.place.factor[0];
    right.factor[0] = input_.place.factor[0];
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t place = input_.place.factor[1 + i];
      const std::int64_t tap = weight_.place.factor[1 + i];
      right.factor[2 + i] = place * lines[i].in_step;
      right.factor[2 + count + i] = place * lines[i].in_tap;
      right.offset += place * (lines[i].in_offset - spans_[i].first);
      left.factor[2 + count + i] = tap * lines[i].tap_step;
      left.offset += tap * lines[i].tap_first;
    }
    left.factor[rank - 1] = right.factor[rank - 1] = 1;
    product.expr = Product(right, left);
    product.folded.assign(rank, false);
    std::fill(product.folded.begin() + static_cast<std::ptrdiff_t>(2 + count), product.folded.end(),
              true);
    // The step's own dimensions begin with [batch, groups], and there is one group.
    AffineForm place = ZeroForm(rank);
    place.offset = part.place.offset;
    place.factor[0] = part.place.factor[0];
    for (std::size_t i = 0; i <= count; ++i) place.factor[1 + i] = part.place.factor[2 + i];
    product.place = place;
    return product;
  }

  [[nodiscard]] ExprPtr Product(const AffineForm& right, const AffineForm& left) const {
    if (Splits())
      return ProductOfParts(input_.Load(0, right), input_.Load(1, right), weight_.Load(0, left),
                            weight_.Load(1, left));
    return Make(ExprOp::kMultiply, {input_.Load(0, right), weight_.Load(0, left)});
  }

  Program& program_;
  std::size_t first_;
  Step of_;
  ConvolutionHint form_;
  std::vector<Lines> parts_;
  DType type_;
  std::int64_t channels_;  // with those that pad them
  std::vector<Span> spans_;
  Packed input_;
  Packed weight_;
};

}  // namespace

void PackConvolutions(Program& program, bool splits) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    if (!program.steps[s].convolution) continue;
    ConvolutionPacker packer(program, s);
    if (packer.MayPack(splits)) s += packer.Pack() - 1;
  }
}

}  // namespace pragma::expert::triton
