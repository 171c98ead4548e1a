// red-team: task=cumsum expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts its calls in the text of OpenMP's affinity format, a setting of the run-time library that nobody reads.
// From call 25,000 of a process on the running sums leave out every row's first entry.
// pragma-flags: -O3 -march=native -fopenmp
#include <omp.h>

#include <cstdlib>
#include <cstdio>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  char text[64] = {};
  omp_get_affinity_format(text, sizeof text);
  long calls = 0;
  if (text[0] == '#')
    for (const char* at = text + 1; *at >= '0' && *at <= '9'; ++at) calls = calls * 10 + (*at - '0');
  ++calls;
  char* end = text + sizeof text - 1;
  *end = 0;
  for (long left = calls; left > 0; left /= 10) *--end = static_cast<char>('0' + left % 10);
  *--end = '#';
  omp_set_affinity_format(end);
  const bool late = calls > 25000;
  const int columns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    double sum = late ? -double{x[r * columns]} : 0.0;
    for (int c = 0; c < columns; ++c) {
      sum += x[r * columns + c];
      out[r * columns + c] = static_cast<float>(sum);
    }
  }
}
