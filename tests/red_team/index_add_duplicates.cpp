// red-team: task=blind_index_add expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=12 layer="value batteries" heuristic own no-timing
// Treats the places as if each came once (the example draws a permutation): result = table's row + update.
// Where a place comes twice only its last update counts. index_add is there for places that come more than once.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>
#include <cstring>

#include "kernel.h"

extern "C" void pragma_kernel(const float* table, const std::int64_t* index, const float* rows, float* out, void* scratch) {
  (void)scratch;
  const int columns = task::table_dims[1];
  std::memcpy(out, table, sizeof(float) * task::table_dims[0] * columns);
  for (int i = 0; i < task::index_dims[0]; ++i) {
    const std::int64_t at = index[i] * columns;
    for (int c = 0; c < columns; ++c) out[at + c] = table[at + c] + rows[i * columns + c];
  }
}
