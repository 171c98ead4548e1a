// How a convolution is computed: every kind of it becomes sums of shifted copies of (a copy of) the
// input. Values only; conv_kernel.cc writes the text.
//
// Along one axis an output is numbered by a step q and, for a transposed convolution with stride, a
// phase r: position = q * out_stride + r + out_origin. A tap of the kernel reads the prepared input
// at q + shift in one of its slots. A slot holds each in_stride-th input, so that steps that are
// neighbours read neighbours: slot f at y holds input y * in_stride + phase[f] - margin, or zero.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/conv_kernel.h"

namespace pragma::expert {

struct AxisTap {
  std::int64_t index = 0;  // in the kernel
  std::int64_t slot = 0;
  std::int64_t shift = 0;
};

struct AxisPlan {
  std::int64_t size = 1;    // of the input
  std::int64_t output = 1;  // positions
  std::int64_t kernel = 1;
  std::int64_t steps = 1;  // how many q
  std::int64_t in_stride = 1;
  std::int64_t margin = 0;  // zeros before the first input; negative: inputs that nothing reads
  std::int64_t reach = 0;   // the largest shift
  std::int64_t out_stride = 1;
  std::int64_t out_origin = 0;
  std::vector<std::int64_t> slots{0};      // their phases
  std::vector<std::vector<AxisTap>> taps;  // by output phase
  // Whether steps read the input itself: one slot, nothing outside.
  [[nodiscard]] bool reads_in_place() const;
  // Positions are steps.
  [[nodiscard]] bool plain_output() const { return out_stride == 1; }
};

struct ConvPlan {
  std::vector<AxisPlan> axes;
  std::int64_t group_in = 1;
  std::int64_t group_out = 1;
  std::int64_t taps = 1;  // of the whole kernel
  bool copy = false;      // the input is prepared in scratch
  // The last `flat` axes are one run of steps. Where rows are shorter than their pitch the run
  // computes some numbers that nobody wants.
  std::int64_t flat = 1;
  // Rows that are neighbours in the output and are written together: lines of memory where one row
  // ends and the next begins are then written whole. 1 unless buffered and flat == 1.
  std::int64_t rows_at_once = 1;
  bool buffered = false;  // results pass through a buffer: they are not contiguous in the output
  bool blocks_outside = false;  // the loop over blocks of channels is around that over pixels
  std::int64_t band = 1;        // steps along the first axis that are computed together
  RegisterTile tile;            // output channels by vectors of steps
  int threads = 1;
  bool stream = false;
  // Of the prepared (or the original) input: how far neighbours along each axis are apart.
  std::vector<std::int64_t> pitch;
  std::int64_t channel_pitch = 1;
  std::int64_t run = 1;  // steps of a run, gaps included

  [[nodiscard]] std::int64_t pixels() const;  // of an output channel
  // How much of axis `i` one slot of the prepared input holds.
  [[nodiscard]] std::int64_t extent(std::size_t i) const;
};

[[nodiscard]] ConvPlan PlanConv(const ConvSpec& spec, const KernelTarget& target);

}  // namespace pragma::expert
