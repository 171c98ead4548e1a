// cause: low_occupancy_shared
// bytes: 67108864
// Each block of 128 asks for 100 KiB of shared memory and uses 2. Fixed: it asks for what it uses.
#include "case.cuh"

constexpr int kCount = 1 << 23;
constexpr int kBlock = 128;
constexpr int kParts = 16;
float *in, *out;

__global__ void Window(const float* __restrict__ x, float* __restrict__ y) {
  extern __shared__ float seen[];
  const std::size_t begin = std::size_t(blockIdx.x) * kBlock * kParts;
  float last = 0;
  for (int part = 0; part < kParts; ++part) {
    const std::size_t at = begin + part * kBlock + threadIdx.x;
    seen[threadIdx.x] = x[at];
    __syncthreads();
    last = 0.5F * last + seen[threadIdx.x] + seen[(threadIdx.x + 1) % kBlock];
    y[at] = last;
    __syncthreads();
  }
}

void Prepare() {
  in = Values(kCount);
  out = Memory<float>(kCount);
  Check(cudaFuncSetAttribute(Window, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10), "attribute");
}
void Slow() { Window<<<kCount / kBlock / kParts, kBlock, 100 << 10>>>(in, out); }
void Fixed() { Window<<<kCount / kBlock / kParts, kBlock, 2 << 10>>>(in, out); }
Output Result() { return {out, kCount}; }
