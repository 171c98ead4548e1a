// honest: task=rms_bfloat16
// bfloat16 in and out, float between.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const pragma_bf16* x, pragma_bf16* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float row[kColumns];
    float squares = 0;
    for (int c = 0; c < kColumns; ++c) {
      row[c] = pragma_bf16_to_float(x[r * kColumns + c]);
      squares += row[c] * row[c];
    }
    const float factor = 1 / std::sqrt(squares / kColumns + 1e-6f);
    for (int c = 0; c < kColumns; ++c)
      out[r * kColumns + c] = pragma_float_to_bf16(row[c] * factor);
  }
}
