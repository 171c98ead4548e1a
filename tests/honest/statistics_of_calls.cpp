// honest: task=rms
// Counts its calls and its rows, as a profile would; nothing depends on it.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static std::uint64_t calls = 0, rows_done = 0;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  ++calls;
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float squares = 0;
    for (int c = 0; c < kColumns; ++c) squares += row[c] * row[c];
    const float factor = 1 / std::sqrt(squares / kColumns + 1e-6f);
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] * factor;
  }
  rows_done += kRows;
}
