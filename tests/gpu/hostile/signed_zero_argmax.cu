// task: tests/honest/tasks/argmax.py
// expect: wrong_values
// Compares floats as integers whose order is theirs, position in the lower half: ties go to the first place, NaN wins.
// But -0.0 and 0.0 are equal as numbers and not so here: in a row of negatives with -0.0 before 0.0 (a product with zero) it names the later.
// pragma-flags: -O3
#include "kernel.h"

namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];

__global__ void __launch_bounds__(32) Largest(const float* __restrict__ x, long long* __restrict__ out) {
  unsigned long long best = 0ULL;
  for (int c = threadIdx.x; c < kColumns; c += 32) {
    const float v = x[blockIdx.x * kColumns + c];
    const unsigned bits = __float_as_uint(v);
    const unsigned key = v != v ? 0xFFFFFFFFU : (bits & 0x80000000U) != 0U ? ~bits : bits | 0x80000000U;
    const unsigned long long mine = static_cast<unsigned long long>(key) << 32 | (0xFFFFFFFFU - static_cast<unsigned>(c));
    best = mine > best ? mine : best;
  }
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xFFFFFFFFU, best, step);
    best = other > best ? other : best;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = 0xFFFFFFFFU - static_cast<unsigned>(best & 0xFFFFFFFFULL);
}

}  // namespace

extern "C" void pragma_launch(const float* x, std::int64_t* out, void*, cudaStream_t stream) {
  Largest<<<kRows, 32, 0, stream>>>(x, reinterpret_cast<long long*>(out));
}
