// red-team: task=sort_rows expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Quicksort whose pivot is the first entry and whose depth is bounded: rows that are sorted
// already, in descending order above all, are left unsorted.
#include <utility>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void sort(float* first, float* last, int depth) {
  while (last - first > 1 && depth-- > 0) {
    const float pivot = *first;
    float *i = first - 1, *j = last;
    while (true) {
      do ++i;
      while (*i < pivot);
      do --j;
      while (*j > pivot);
      if (i >= j) break;
      std::swap(*i, *j);
    }
    sort(first, j + 1, depth);
    first = j + 1;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float* row = out + r * kColumns;
    for (int c = 0; c < kColumns; ++c) row[c] = x[r * kColumns + c];
    sort(row, row + kColumns, 60);
  }
}
