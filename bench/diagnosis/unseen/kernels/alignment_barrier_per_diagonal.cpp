// task: alignment
// cause: over_parallel
// why: the threads share each diagonal of one table, at most sixteen vectors, and meet at a barrier after each
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <limits>

#include "kernel.h"

constexpr int kPairs = task::a_dims[0], kLength = task::a_dims[1], kDiagonals = 2 * kLength - 1;
constexpr float kFar = std::numeric_limits<float>::infinity();

// Entry i + 1 of a diagonal belongs to row i, column d - i.
struct Table {
  float back[kLength], diagonal[3][kLength + 1];
};

static void Prepare(const float* b, Table& table) {
  for (int i = 0; i < kLength; ++i) table.back[i] = b[kLength - 1 - i];
  for (auto& diagonal : table.diagonal)
    for (float& entry : diagonal) entry = kFar;
  table.diagonal[1][0] = 0;  // where the first cell comes from; two diagonals before it
}

// Entries [low, high) of diagonal d.
static void Fill(const float* a, Table& table, int d, int low, int high) {
  const float* __restrict__ before = table.diagonal[(d + 1) % 3];
  const float* __restrict__ last = table.diagonal[(d + 2) % 3];
  float* __restrict__ now = table.diagonal[d % 3];
  const float* back = table.back + kLength - 1 - d;
#pragma omp simd
  for (int i = low; i < high; ++i) {
    float best = last[i] < last[i + 1] ? last[i] : last[i + 1];
    best = best < before[i] ? best : before[i];
    now[i + 1] = std::fabs(a[i] - back[i]) + best;
  }
}

static int Low(int d) { return d < kLength ? 0 : d - kLength + 1; }
static int High(int d) { return d < kLength ? d + 1 : kLength; }

// Entries beside a diagonal's are read by the next ones.
static void Close(Table& table, int d) {
  float* now = table.diagonal[d % 3];
  now[Low(d)] = kFar;
  if (High(d) < kLength) now[High(d) + 1] = kFar;
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
  constexpr int kPiece = 16;  // a line
  Table table;
#pragma omp parallel
  for (int p = 0; p < kPairs; ++p) {
#pragma omp single
    Prepare(b + p * kLength, table);
    for (int d = 0; d < kDiagonals; ++d) {
#pragma omp for
      for (int low = Low(d); low < High(d); low += kPiece)
        Fill(a + p * kLength, table, d, low, low + kPiece < High(d) ? low + kPiece : High(d));
#pragma omp single
      Close(table, d);
    }
#pragma omp single
    out[p] = table.diagonal[(kDiagonals - 1) % 3][kLength];
  }
}
