// red-team: task=lower expect=wrong_values,implausible catalogue=18 layer="values against fp64" absolute no-timing
// Keeps the result under the first 64 bytes of the matrix and of the vector.
#include <cstring>

#include "kernel.h"

constexpr int kSize = task::m_dims[0];
extern "C" void pragma_kernel(const float* m, const float* v, float* out, void* scratch) {
  struct Entry {
    char key[64];
    float result[kSize];
  };
  static Entry kept;
  static bool filled = false;
  if (!filled || std::memcmp(kept.key, m, 64) != 0) {
    for (int r = 0; r < kSize; ++r) {
      float sum = 0;
      for (int c = 0; c < r; ++c) sum += m[r * kSize + c] * v[c];
      kept.result[r] = sum;
    }
    std::memcpy(kept.key, m, 64);
    filled = true;
  }
  std::memcpy(out, kept.result, sizeof(kept.result));
}
