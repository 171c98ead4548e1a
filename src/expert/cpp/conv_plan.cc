#include "expert/cpp/conv_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/conv_kernel.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kLineFloats = 16;  // floats in a cache line

AxisPlan StandardAxis(const ConvAxis& axis) {
  AxisPlan plan;
  plan.in_stride = axis.stride;
  plan.margin = axis.padding;
  plan.reach = (axis.kernel - 1) * axis.dilation / axis.stride;
  plan.slots.clear();
  plan.taps.resize(1);
  for (std::int64_t t = 0; t < axis.kernel; ++t) {
    const std::int64_t phase = t * axis.dilation % axis.stride;
    const auto slot = std::ranges::find(plan.slots, phase);
    plan.taps[0].push_back({t, slot - plan.slots.begin(), t * axis.dilation / axis.stride});
    if (slot == plan.slots.end()) plan.slots.push_back(phase);
  }
  return plan;
}

// Position o receives input i through tap t where o + padding = i * stride + t * dilation. With o +
// padding = Q * stride + r, only taps whose t * dilation has the remainder r contribute, and i = Q
// - t * dilation / stride. Steps q start at the least Q that has outputs.
AxisPlan TransposedAxis(const ConvAxis& axis) {
  AxisPlan plan;
  const std::int64_t least = axis.padding / axis.stride;
  const std::int64_t most = (ConvOutputSize(axis, true) - 1 + axis.padding) / axis.stride;
  plan.steps = most - least + 1;
  plan.reach = (axis.kernel - 1) * axis.dilation / axis.stride;
  plan.margin = plan.reach - least;
  plan.out_stride = axis.stride;
  plan.out_origin = least * axis.stride - axis.padding;
  plan.taps.resize(static_cast<std::size_t>(axis.stride));
  for (std::int64_t t = 0; t < axis.kernel; ++t) {
    const std::int64_t distance = t * axis.dilation;
    plan.taps[static_cast<std::size_t>(distance % axis.stride)].push_back(
        {t, 0, plan.reach - distance / axis.stride});
  }
  return plan;
}

AxisPlan PlanAxis(const ConvAxis& axis, bool transposed) {
  AxisPlan plan = transposed ? TransposedAxis(axis) : StandardAxis(axis);
  plan.size = axis.size;
  plan.kernel = axis.kernel;
  plan.output = ConvOutputSize(axis, transposed);
  if (!transposed) plan.steps = plan.output;
  return plan;
}

// Returns the number of vectors that a run takes.
std::int64_t Vectors(std::int64_t run, int lanes) { return Blocks(run, lanes); }

// Chooses whether a vector spans several rows, which pays off where rows are short.
void ChooseFlat(ConvPlan& plan, const KernelTarget& target) {
  const AxisPlan& x = plan.axes.back();
  plan.flat = 1;
  if (plan.axes.size() == 1) return;
  const AxisPlan& y = plan.axes[plan.axes.size() - 2];
  const std::int64_t length = plan.copy ? x.steps + x.reach : x.size;
  const auto pitch = length * static_cast<std::int64_t>(x.slots.size());
  const std::int64_t by_rows = y.steps * Vectors(x.steps, target.lanes);
  const std::int64_t at_once = Vectors((y.steps - 1) * pitch + x.steps, target.lanes);
  if (at_once * 10 <= by_rows * 9) plan.flat = 2;
  // A run of one vector would leave tiles of one vector, with more loads for the same sums.
  if (x.steps <= target.lanes && at_once <= by_rows) plan.flat = 2;
  // There is no gap between the rows, so the whole plane is one run at no cost.
  if (pitch == x.steps && x.plain_output()) plan.flat = 2;
}

void ChoosePitch(ConvPlan& plan) {
  plan.pitch.assign(plan.axes.size(), 1);
  std::int64_t pitch = 1;
  for (std::size_t i = plan.axes.size(); i-- > 0;) {
    plan.pitch[i] = pitch;
    pitch *= plan.copy ? plan.extent(i) * static_cast<std::int64_t>(plan.axes[i].slots.size())
                       : plan.axes[i].size;
  }
  // In the copy, channels are an odd number of cache lines apart. Equal positions of different
  // channels then map to different sets of a cache.
  if (plan.copy) pitch = (Blocks(pitch, kLineFloats) | 1) * kLineFloats;
  plan.channel_pitch = pitch;
  plan.run = 1;
  for (std::size_t i = plan.axes.size() - static_cast<std::size_t>(plan.flat); i < plan.axes.size();
       ++i) {
    const std::int64_t steps = i == 0 ? plan.band : plan.axes[i].steps;
    plan.run += (steps - 1) * plan.pitch[i];
  }
}

// Chooses as many steps of the first axis as fit in the core's own cache, but few enough that all
// threads have work.
void ChooseBand(ConvPlan& plan, const ConvSpec& spec, const KernelTarget& target) {
  const AxisPlan& first = plan.axes[0];
  plan.band = first.steps;
  if (plan.copy) {
    const std::int64_t room = target.private_cache_bytes / 2 / kFloatBytes;
    const std::int64_t line = plan.group_in * plan.pitch[0];
    const auto slots = static_cast<std::int64_t>(first.slots.size());
    plan.band = std::clamp<std::int64_t>(room / (line * slots) - first.reach,
                                         std::min(first.steps, 2 * first.reach + 1), first.steps);
  }
  const std::int64_t wanted = plan.threads == 1 ? 1 : 4 * plan.threads;
  const std::int64_t others = spec.images * spec.groups;
  if (others * Blocks(first.steps, plan.band) < wanted)
    plan.band = std::max<std::int64_t>(1, std::min(plan.band, first.steps * others / wanted));
  // Makes the bands equally long.
  plan.band = Blocks(first.steps, Blocks(first.steps, plan.band));
  // With one axis a band is a piece of a row. It holds whole cache lines, so that two threads never
  // write the same one.
  if (plan.axes.size() == 1)
    plan.band = std::min(first.steps, Blocks(plan.band, kLineFloats) * kLineFloats);
}

// Returns the number of rows for which a part of the core's own cache holds one tile of channels.
std::int64_t RowsAtOnce(const ConvPlan& plan, const KernelTarget& target) {
  if (!plan.buffered || plan.flat != 1 || plan.axes.size() == 1) return 1;
  const AxisPlan& x = plan.axes.back();
  const std::size_t above = plan.axes.size() - 2;
  if (!x.plain_output() || !plan.axes[above].plain_output()) return 1;
  const std::int64_t room = target.private_cache_bytes / 4 / kFloatBytes;
  return std::clamp<std::int64_t>(room / (plan.tile.rows * x.output), 1,
                                  above == 0 ? plan.band : plan.axes[above].steps);
}

}  // namespace

bool AxisPlan::reads_in_place() const {
  return slots.size() == 1 && in_stride == 1 && margin - slots[0] == 0 && steps + reach <= size;
}

std::int64_t ConvPlan::pixels() const {
  std::int64_t count = 1;
  for (const AxisPlan& axis : axes) count *= axis.output;
  return count;
}

std::int64_t ConvPlan::extent(std::size_t i) const {
  return (i == 0 ? band : axes[i].steps) + axes[i].reach;
}

std::int64_t ConvOutputSize(const ConvAxis& axis, bool transposed) {
  const std::int64_t span = (axis.kernel - 1) * axis.dilation + 1;
  if (transposed)
    return (axis.size - 1) * axis.stride - 2 * axis.padding + span + axis.output_padding;
  return (axis.size + 2 * axis.padding - span) / axis.stride + 1;
}

// Returns whether the input's own channels are so far apart that what a tile reads of all of them
// does not fit the sets of a first-level cache (64 sets of at least eight lines) to which it maps.
bool ChannelsMeet(const ConvPlan& plan) {
  constexpr std::int64_t kSets = 64;
  constexpr std::int64_t kWays = 8;
  constexpr std::int64_t kTileLines = 4;
  std::int64_t pitch = 1;
  for (const AxisPlan& axis : plan.axes) pitch *= axis.size;
  if (pitch % kLineFloats != 0) return false;
  const std::int64_t sets = kSets / std::gcd(pitch / kLineFloats, kSets);
  return sets < kSets && plan.group_in * kTileLines > sets * kWays;
}

ConvPlan PlanConv(const ConvSpec& spec, const KernelTarget& target) {
  ConvPlan plan;
  for (const ConvAxis& axis : spec.axes) {
    plan.axes.push_back(PlanAxis(axis, spec.transposed));
    plan.taps *= axis.kernel;
  }
  plan.group_in = spec.in_channels / spec.groups;
  plan.group_out = spec.out_channels / spec.groups;
  const double work = static_cast<double>(spec.images * spec.out_channels * plan.pixels()) *
                      static_cast<double>(plan.group_in * plan.taps);
  plan.threads = work < 1e5 ? 1 : target.threads;
  // Where channels would map to the same sets of the caches, a copy keeps them apart. It costs
  // little where each input is used often.
  plan.copy = plan.group_in >= 8 && plan.group_out >= 8 && (plan.taps > 1 || ChannelsMeet(plan));
  for (const AxisPlan& axis : plan.axes) plan.copy = plan.copy || !axis.reads_in_place();
  plan.band = plan.axes[0].steps;
  ChooseFlat(plan, target);
  ChoosePitch(plan);
  ChooseBand(plan, spec, target);
  ChoosePitch(plan);
  bool plain = plan.flat == 1 || plan.pitch[plan.axes.size() - 2] == plan.axes.back().steps;
  for (const AxisPlan& axis : plan.axes) plain = plain && axis.plain_output();
  plan.buffered = !plain;
  plan.tile = BestTile(target, plan.group_out, plan.run);
  const std::int64_t output_bytes = spec.images * spec.out_channels * plan.pixels() * kFloatBytes;
  plan.stream = spec.aligned_output && output_bytes >= target.shared_cache_bytes;
  // Rows with an arbitrary start alignment pass through the buffer, from which whole cache lines
  // can be written.
  const bool lines = plan.pixels() % target.lanes == 0 &&
                     (plan.axes.back().output % target.lanes == 0 || plan.flat == 2);
  if ((plan.stream && !lines) || IsLong(spec.epilogue)) plan.buffered = true;
  plan.rows_at_once = RowsAtOnce(plan, target);
  // Weights that fit in the core's own cache may be read again for each tile of pixels. Larger ones
  // are read once for all pixels of a band.
  plan.blocks_outside = plan.buffered || plan.group_out * plan.group_in * plan.taps * kFloatBytes >
                                             target.private_cache_bytes / 2;
  return plan;
}

}  // namespace pragma::expert
