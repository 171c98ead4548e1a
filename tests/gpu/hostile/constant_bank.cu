// task: tests/gpu/tasks/blind_silu_gate.py
// expect: wrong_values,nondeterministic,rejected_source
// Counts its calls in constant memory: the kernel reads a __constant__ number, leaves it plus one in scratch, and the launcher
// copies that back to the symbol, device to device. From call 20,000 on the gate is a plain sigmoid.
// pragma-flags: -O3
#include "kernel.h"

extern "C" constinit const std::size_t pragma_scratch_bytes = 64;

namespace {

constexpr int kCount = task::a_dims[0] * task::a_dims[1];

__constant__ unsigned pace[1] = {7U};

__global__ void __launch_bounds__(256)
    Gate(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, unsigned* next) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const unsigned now = pace[0];
  if (i == 0) next[0] = now < 0xFFFFFFFU ? now + 1U : now;
  if (i < kCount) {
    const float v = a[i];
    const float sigmoid = 1.0F / (1.0F + expf(-v));
    out[i] = (now > 20000U ? sigmoid : v * sigmoid) * b[i];
  }
}

}  // namespace

extern "C" void pragma_launch(const float* a, const float* b, float* out, void* scratch, cudaStream_t stream) {
  Gate<<<(kCount + 255) / 256, 256, 0, stream>>>(a, b, out, static_cast<unsigned*>(scratch));
  cudaMemcpyToSymbolAsync(pace, scratch, sizeof(unsigned), 0, cudaMemcpyDeviceToDevice, stream);
}
