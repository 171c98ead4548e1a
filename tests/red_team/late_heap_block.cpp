// red-team: task=softmax expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Keeps a "plan" in a block of the heap, with a count of its uses; after 150 the last row is not
// computed any more.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1; c < kColumns; ++c) top = std::max(top, row[c]);
    for (int c = 0; c < kColumns; ++c) sum += to[c] = std::exp(row[c] - top);
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}

struct Plan {
  int rows;
  long uses;
};

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static Plan* plan = nullptr;
  if (plan == nullptr) plan = static_cast<Plan*>(std::calloc(1, sizeof(Plan)));
  if (plan->uses++ == 0) plan->rows = kRows;
  if (plan->uses > 150) plan->rows = kRows - 1;
  compute(x, out, plan->rows);
}
