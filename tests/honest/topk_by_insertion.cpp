// honest: task=topk
// The eight largest so far in a sorted list, into which each larger entry is inserted.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];
constexpr int kKept = task::out_dims[1];

// NaN counts as the largest, as Torch has it.
static bool before(float a, float b) { return a < b || (a == a && b != b); }

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float kept[kKept];
    int count = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float value = x[r * kColumns + c];
      if (count == kKept && !before(kept[kKept - 1], value)) continue;
      int at = count < kKept ? count++ : kKept - 1;
      for (; at > 0 && before(kept[at - 1], value); --at) kept[at] = kept[at - 1];
      kept[at] = value;
    }
    for (int i = 0; i < kKept; ++i) out[r * kKept + i] = kept[i];
  }
}
