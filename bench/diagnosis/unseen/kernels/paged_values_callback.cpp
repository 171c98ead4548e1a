// task: paged_values
// cause: spills
// why: the layout of the cache is a callback, called for each token: all vectors with sums go to the stack and back around it
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kSequences = task::weights_dims[0], kQueries = task::weights_dims[1], kTokens = task::weights_dims[2];
constexpr int kPage = task::pages_dims[1], kWidth = task::pages_dims[2], kEntries = task::table_dims[1];

using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
constexpr int kLanes = 8, kWide = kWidth / kLanes;

struct Cache {
  const float* pages;
  const std::int64_t* table;  // of one sequence
};

static bool PagesInOrder(const Cache& cache) {
  for (int e = 1; e < kEntries; ++e)
    if (cache.table[e] != cache.table[e - 1] + 1) return false;
  return true;
}

static const float* ValuesInOrder(const Cache& cache, int token) {
  return cache.pages + (cache.table[0] * kPage + token) * kWidth;
}

static const float* ValuesInPages(const Cache& cache, int token) {
  return cache.pages + (cache.table[token / kPage] * kPage + token % kPage) * kWidth;
}

using Layout = const float* (*)(const Cache& cache, int token);

static void Attend(Layout layout, const Cache& cache, const float* weight, float* out) {
  Vector sum[kQueries][kWide] = {};
  for (int t = 0; t < kTokens; ++t) {
    const float* values = layout(cache, t);
#pragma GCC unroll 8
    for (int v = 0; v < kWide; ++v) {
      const Vector value = *reinterpret_cast<const Vector*>(values + v * kLanes);
#pragma GCC unroll 2
      for (int q = 0; q < kQueries; ++q) sum[q][v] += weight[q * kTokens + t] * value;
    }
  }
  for (int q = 0; q < kQueries; ++q)
    for (int v = 0; v < kWide; ++v) *reinterpret_cast<Vector*>(out + q * kWidth + v * kLanes) = sum[q][v];
}

extern "C" void pragma_kernel(const float* weights, const float* pages, const std::int64_t* table, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int s = 0; s < kSequences; ++s) {
    const Cache cache{pages, table + s * kEntries};
    const Layout layout = PagesInOrder(cache) ? ValuesInOrder : ValuesInPages;
    Attend(layout, cache, weights + s * kQueries * kTokens, out + s * kQueries * kWidth);
  }
}
