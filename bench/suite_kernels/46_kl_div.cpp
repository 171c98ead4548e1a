// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::target_dims[0];
constexpr int64_t kElements = kRows * task::target_dims[1];

// p log(p / q) of one element; 0 log 0 is 0.
static double Term(float p, float log_p, float log_q) { return p > 0 ? p * (log_p - log_q) : 0; }

extern "C" void pragma_kernel(const float* log_prediction, const float* target, float* out,
                              void* /*scratch*/) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t i = 0; i < kElements; ++i) {
    const float log_q = log_prediction[i];
    const float p = target[i];
#if defined(PRAGMA_BUG)  // bug: swapped operand: the two distributions change places
    sum += Term(std::exp(log_q), log_q, std::log(p));
#else
    sum += Term(p, std::log(p), log_q);
#endif
  }
  out[0] = static_cast<float>(sum / kRows);
}
