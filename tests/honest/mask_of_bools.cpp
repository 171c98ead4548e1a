// honest: task=where_masked
// A mask of bools read as bytes.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const bool* mask, float* out_0, std::int64_t* out_1,
                              void* scratch) {
  auto bytes = reinterpret_cast<const unsigned char*>(mask);
  for (int r = 0; r < kRows; ++r) {
    int set = 0;
    for (int c = 0; c < kColumns; ++c) {
      const int i = r * kColumns + c;
      out_0[i] = bytes[i] != 0 ? -1.0f : x[i];
      set += bytes[i];
    }
    out_1[r] = set;
  }
}
