// Depthwise convolutions of many taps: neighbouring programs take neighbouring channels of the same
// pixel. The input is written once with its channels innermost, and so are the weights. A load of
// several channels then needs one address and one mask, where a line of a narrow image would need
// one for each element.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert::triton {

// Replaces such convolutions by the steps that write both, the sums over the taps, and a copy of
// the results in the order in which they were wanted. There is no copy where all that reads the
// results can read them with the channels innermost. Runs before nests are planned.
void PackDepthwise(Program& program);

}  // namespace pragma::expert::triton
