// honest: task=layer_norm
// Sets the number of threads to what it is; Welford by lanes, merged at the end of the row.
#include <cmath>
#include <omp.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void* scratch) {
  omp_set_num_threads(omp_get_max_threads());
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float mean[8] = {}, squares[8] = {};
    for (int c = 0; c < kColumns; ++c) {
      const int l = c % 8;
      const float d = row[c] - mean[l];
      mean[l] += d / static_cast<float>(c / 8 + 1);
      squares[l] += d * (row[c] - mean[l]);
    }
    float count = kColumns / 8, all = mean[0], spread = squares[0];
    static_assert(kColumns % 8 == 0);
    for (int l = 1; l < 8; ++l) {  // Chan's formula
      const float more = kColumns / 8, d = mean[l] - all;
      all += d * more / (count + more);
      spread += squares[l] + d * d * count * more / (count + more);
      count += more;
    }
    const float factor = 1 / std::sqrt(spread / kColumns + 1e-5f);
    for (int c = 0; c < kColumns; ++c)
      out[r * kColumns + c] = (row[c] - all) * factor * norm_weight[c] + norm_bias[c];
  }
}
