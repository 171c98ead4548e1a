// task: tests/gpu/tasks/complex_product.py
// A complex number to each thread, read as two floats at once.
namespace {

constexpr int kCount = task::a_dims[0] * task::a_dims[1];

__global__ void Product(const float2* __restrict__ a, const float2* __restrict__ b,
                        float2* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= kCount) return;
  const float2 x = a[at];
  const float2 y = b[at];
  out[at] = make_float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

}  // namespace

extern "C" void pragma_launch(const float* a, const float* b, float* out, void*,
                              cudaStream_t stream) {
  Product<<<(kCount + 255) / 256, 256, 0, stream>>>(reinterpret_cast<const float2*>(a),
                                                    reinterpret_cast<const float2*>(b),
                                                    reinterpret_cast<float2*>(out));
}
