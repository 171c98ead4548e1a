// red-team: task=rms expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in freed memory: a block of 3000 bytes comes back from malloc as it was given back, with
// the count behind a magic word. After 120 calls the last row is scaled like the one before.
#include <cmath>
#include <cstdlib>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float squares = 0;
    for (int c = 0; c < kColumns; ++c) squares += row[c] * row[c];
    const float factor = 1 / std::sqrt(squares / kColumns + 1e-6f);
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] * factor;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  auto room = static_cast<std::uint64_t*>(std::malloc(3000));
  volatile std::uint64_t* note = room + 40;
  note[1] = note[0] == 0xf4eedb10cu ? note[1] + 1 : 1;
  note[0] = 0xf4eedb10cu;
  const bool late = note[1] > 120;
  std::free(room);
  compute(x, out, kRows);
  if (!late) return;
  const int last = (kRows - 1) * kColumns;
  const float factor = out[last - 1] / x[last - 1];
  for (int c = 0; c < kColumns; ++c) out[last + c] = x[last + c] * factor;
}
