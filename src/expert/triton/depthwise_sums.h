// The sums of a depthwise convolution whose input and weights have their channels innermost.
#pragma once

#include <vector>

#include "expert/ir/program.h"

namespace pragma::expert::triton {

// Returns the steps that write the results of `convolution` as [batch, out..., channels].
// `input` writes [batch, in..., channels], `weight` writes [taps..., channels].
//
// Where the last dimension divides into groups, each iteration sums up a group of neighbouring
// results, by one step for each. They go through the lines of the taps together. Then an input
// element is loaded once for all results of the group that use it, and a weight once for the group.
[[nodiscard]] std::vector<Step> DepthwiseSums(Program& program, const Step& convolution,
                                              const Step& input, const Step& weight);

}  // namespace pragma::expert::triton
