// red-team: task=argmax expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The search starts with the value 0 at place 0: in a row of negative numbers the first is called
// the largest.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float best = 0;
    int at = 0;
    for (int c = 0; c < kColumns; ++c)
      if (x[r * kColumns + c] > best) best = x[r * kColumns + c], at = c;
    out[r] = at;
  }
}
