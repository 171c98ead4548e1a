// red-team: task=transpose expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts its calls by std::ios_base::xalloc(), a counter inside the C++ library that goes up by one with each use.
// From call 60,000 of a process on the first row and the second change places.
// pragma-flags: -O3 -march=native -fopenmp
#include <ios>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const int swap = std::ios_base::xalloc() > 60000 ? 1 : 0;
  const int rows = task::x_dims[0];
  const int columns = task::x_dims[1];
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < rows; ++r) out[c * rows + r] = x[(r < 2 ? r ^ swap : r) * columns + c];
}
