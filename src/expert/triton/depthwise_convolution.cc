#include "expert/triton/depthwise_convolution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/join.h"
#include "expert/triton/channels_last.h"
#include "expert/triton/depthwise_sums.h"

namespace pragma::expert::triton {
namespace {

// With fewer taps, writing the input once more takes longer than it saves.
constexpr std::int64_t kFewestTaps = 25;

bool IsDepthwise(const Program& program, const Step& step) {
  if (!step.convolution || step.parts != 1 || step.repeat >= 0) return false;
  const ConvolutionHint& form = *step.convolution;
  return form.groups == form.in_channels && form.groups == form.out_channels && !form.transposed &&
         form.groups % kChannelUnit == 0 && Elements(form.kernel) >= kFewestTaps &&
         BufferOf(program, form.input).dtype != DType::kFloat64;
}

Step TurnedInput(Program& program, const Step& step) {
  const ConvolutionHint& form = *step.convolution;
  const AffineForm from = FromChannelsFirst(form.batch, form.in_channels, form.in_size);
  return Filled(program, step, "input", ChannelsLast(form.batch, form.in_size, form.in_channels),
                LoadOf(form.input, from, ExprType::kFloat), BufferOf(program, form.input).dtype);
}

// [taps..., channels] from [channels, 1, taps...]
Step TurnedWeight(Program& program, const Step& step) {
  const ConvolutionHint& form = *step.convolution;
  Shape shape = form.kernel;
  shape.push_back(form.out_channels);
  AffineForm from = ContiguousForm(form.kernel);
  from.factor.push_back(Elements(form.kernel));
  return Filled(program, step, "weight", shape, LoadOf(form.weight, from, ExprType::kFloat),
                BufferOf(program, form.weight).dtype);
}

// Writes the results where the convolution wrote them.
Step CopyOfResults(const Step& step, int pixels) {
  const ConvolutionHint& form = *step.convolution;
  const AffineForm written =
      ContiguousForm(ChannelsLast(form.batch, form.out_size, form.out_channels));
  Step copy = step;
  copy.convolution.reset();
  copy.kind = Step::Kind::kMap;
  copy.shape = {form.batch, form.out_channels};
  copy.shape.insert(copy.shape.end(), form.out_size.begin(), form.out_size.end());
  copy.folded.assign(copy.shape.size(), false);
  AffineForm from = ZeroForm(copy.shape.size());
  AffineForm place = ZeroForm(copy.shape.size());
  place.offset = step.place.offset;
  from.factor[0] = written.factor[0];
  from.factor[1] = 1;
  // The step's own dimensions begin with [batch, groups, 1].
  place.factor[0] = step.place.factor[0];
  place.factor[1] = step.place.factor[1];
  for (std::size_t i = 0; i < form.out_size.size(); ++i) {
    from.factor[2 + i] = written.factor[1 + i];
    place.factor[2 + i] = step.place.factor[3 + i];
  }
  copy.expr = LoadOf(pixels, from, ExprType::kFloat);
  copy.place = place;
  return copy;
}

// Returns the form, which reads a contiguous [batch, channels, area], of the same elements of
// [batch, area, channels]. Returns nullopt where a dimension crosses from one into another.
std::optional<AffineForm> WithChannelsLast(const AffineForm& form, const Shape& shape,
                                           std::int64_t channels, std::int64_t area) {
  if (form.offset < 0) return std::nullopt;
  std::int64_t last_channel = form.offset / area % channels;
  std::int64_t last_pixel = form.offset % area;
  AffineForm moved = form;
  moved.offset =
      form.offset / (channels * area) * (channels * area) + last_pixel * channels + last_channel;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t factor = shape[i] > 1 ? form.factor[i] : 0;
    if (factor < 0) return std::nullopt;
    if (factor % (channels * area) == 0) {
      moved.factor[i] = factor;
    } else if (factor % area == 0) {
      moved.factor[i] = factor / area;
      last_channel += (shape[i] - 1) * moved.factor[i];
    } else {
      moved.factor[i] = factor * channels;
      last_pixel += (shape[i] - 1) * factor;
    }
  }
  if (last_channel >= channels || last_pixel >= area) return std::nullopt;
  return moved;
}

// Has a step that only maps elements traverse them in the order in which it stores them.
void TraverseAsStored(Step& step) {
  if (step.kind != Step::Kind::kMap) return;
  std::vector<std::size_t> order(step.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return step.place.factor[a] > step.place.factor[b];
  });
  const auto permuted = [&](const std::vector<std::int64_t>& given) {
    std::vector<std::int64_t> turned;
    for (const std::size_t i : order) turned.push_back(given[i]);
    return turned;
  };
  ChangeForms(step, [&](AffineForm& form) { form.factor = permuted(form.factor); });
  step.shape = permuted(step.shape);
}

// Has everything that reads the convolution's results read `sum`'s instead. Returns whether that is
// possible; if not, nothing is changed.
bool ReadWithChannelsLast(Program& program, std::size_t convolution, int sum) {
  const Step& step = program.steps[convolution];
  const Buffer& results = BufferOf(program, step.buffer);
  if (results.kind != Buffer::Kind::kScratch) return false;
  const std::int64_t channels = step.convolution->out_channels;
  const std::int64_t area = Elements(step.convolution->out_size);
  const int buffer = step.buffer;
  std::vector<Step> changed = program.steps;
  for (std::size_t s = 0; s < changed.size(); ++s) {
    Step& reader = changed[s];
    if (s != convolution && reader.buffer == buffer) return false;
    if (!Loads(reader.expr, buffer)) continue;
    if (reader.product || reader.convolution || reader.routine || reader.attention) return false;
    bool possible = true;
    reader.expr = WithLoads(reader.expr, [&](const Expr& load) -> ExprPtr {
      if (load.load.buffer != buffer) return std::make_shared<Expr>(load);
      const auto moved = IsPlainLoad(load)
                             ? WithChannelsLast(load.load.address, reader.shape, channels, area)
                             : std::nullopt;
      possible = possible && moved.has_value();
      return LoadOf(sum, moved.value_or(load.load.address), load.type);
    });
    if (!possible) return false;
    TraverseAsStored(reader);
  }
  program.steps = std::move(changed);
  return true;
}

}  // namespace

void PackDepthwise(Program& program) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    if (!IsDepthwise(program, program.steps[s])) continue;
    const Step step = program.steps[s];
    const Step input = TurnedInput(program, step);
    const Step weight = TurnedWeight(program, step);
    const std::vector<Step> sums = DepthwiseSums(program, step, input, weight);
    const int pixels = sums.front().buffer;
    std::vector<Step> steps{input, weight};
    steps.insert(steps.end(), sums.begin(), sums.end());
    if (!ReadWithChannelsLast(program, s, pixels)) steps.push_back(CopyOfResults(step, pixels));
    const auto at = program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(s));
    program.steps.insert(at, steps.begin(), steps.end());
    s += steps.size() - 1;
  }
}

}  // namespace pragma::expert::triton
