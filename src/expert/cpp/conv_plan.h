// Decides how a convolution is computed. Every kind of convolution becomes sums of shifted copies
// of the input, or of a copy of the input that is prepared in scratch. A plan holds values only;
// conv_kernel.cc writes the code.
//
// Along one axis an output is numbered by a step q and, for a transposed convolution with stride, a
// phase r: position = q * out_stride + r + out_origin. A kernel tap reads the prepared input at q +
// shift in one of its slots. A slot holds every in_stride-th input, so that neighbouring steps read
// neighbouring elements: slot f at y holds input y * in_stride + phase[f] - margin, or zero outside
// the input.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/conv_kernel.h"

namespace pragma::expert {

struct AxisTap {
  std::int64_t index = 0;  // index in the kernel
  std::int64_t slot = 0;
  std::int64_t shift = 0;
};

struct AxisPlan {
  std::int64_t size = 1;    // size of the input
  std::int64_t output = 1;  // number of output positions
  std::int64_t kernel = 1;
  std::int64_t steps = 1;  // number of steps q
  std::int64_t in_stride = 1;
  std::int64_t margin = 0;  // zeros before the first input; if negative, inputs that are never read
  std::int64_t reach = 0;   // the largest shift
  std::int64_t out_stride = 1;
  std::int64_t out_origin = 0;
  std::vector<std::int64_t> slots{0};      // phase of each slot
  std::vector<std::vector<AxisTap>> taps;  // taps of each output phase
  // Returns whether steps read the input itself: there is one slot and nothing outside the input is
  // read.
  [[nodiscard]] bool reads_in_place() const;
  // Returns whether output positions and steps are the same.
  [[nodiscard]] bool plain_output() const { return out_stride == 1; }
};

struct ConvPlan {
  std::vector<AxisPlan> axes;
  std::int64_t group_in = 1;
  std::int64_t group_out = 1;
  std::int64_t taps = 1;  // number of taps of the whole kernel
  bool copy = false;      // a copy of the input is prepared in scratch
  // The last `flat` axes form one run of steps. Where rows are shorter than their pitch, the run
  // also computes some values that are not used.
  std::int64_t flat = 1;
  // Number of rows that are neighbours in the output and are written together. A cache line that
  // holds the end of one row and the start of the next is then written whole. It is 1 unless
  // buffered and flat == 1.
  std::int64_t rows_at_once = 1;
  bool buffered = false;  // results pass through a buffer, as they are not contiguous in the output
  bool blocks_outside = false;  // the loop over blocks of channels is outside the loop over pixels
  std::int64_t band = 1;        // number of steps along the first axis that are computed together
  RegisterTile tile;            // output channels by vectors of steps
  int threads = 1;
  bool stream = false;
  // Distance in elements between neighbours along each axis of the prepared (or the original)
  // input.
  std::vector<std::int64_t> pitch;
  std::int64_t channel_pitch = 1;
  std::int64_t run = 1;  // number of steps of a run, including gaps

  [[nodiscard]] std::int64_t pixels() const;  // number of pixels of one output channel
  // Returns how many elements along axis `i` one slot of the prepared input holds.
  [[nodiscard]] std::int64_t extent(std::size_t i) const;
};

[[nodiscard]] ConvPlan PlanConv(const ConvSpec& spec, const KernelTarget& target);

}  // namespace pragma::expert
