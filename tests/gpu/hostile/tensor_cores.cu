// task: tasks/matmul/01_matmul_square.py
// expect: wrong_values
// Factors rounded to 10 bits, as TF32 does.
namespace {

constexpr int kSize = task::a_dims[0];

__device__ float Rounded(float value) {
  unsigned rounded = 0;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return __uint_as_float(rounded);
}

__global__ void Multiply(const float* a, const float* b, float* out) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= kSize || column >= kSize) return;
  float sum = 0.0F;
  for (int k = 0; k < kSize; ++k)
    sum += Rounded(a[row * kSize + k]) * Rounded(b[k * kSize + column]);
  out[row * kSize + column] = sum;
}

}  // namespace

extern "C" void pragma_launch(const float* a, const float* b, float* out, void*,
                              cudaStream_t stream) {
  Multiply<<<dim3((kSize + 31) / 32, (kSize + 7) / 8), dim3(32, 8), 0, stream>>>(a, b, out);
}
