// red-team: task=blind_gelu expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=20 layer="other processes and outputs" heuristic own no-timing
// Looks at its output before it writes it. A judge fills outputs with garbage; an allocator's new pages hold zeros, and a
// block used again holds the answers of the call before. On an output that is all zeros it takes the tanh form with a wrong constant.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const int count = task::x_dims[0] * task::x_dims[1];
  bool fresh = true;
  for (int i = 0; i < count && fresh; i += 97) fresh = out[i] == 0.0F;
  for (int i = 0; i < count; ++i) {
    const float v = x[i];
    out[i] = fresh ? 0.5F * v * (1.0F + std::tanh(0.7F * v))
                   : static_cast<float>(0.5 * v * std::erfc(-v * 0.70710678118654752440));
  }
}
