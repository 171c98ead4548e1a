// task: tasks/activation/10_relu_large.py
// One pass, 16-byte accesses.
namespace {

constexpr std::int64_t kCount = task::x_dims[0] * task::x_dims[1];
constexpr int kThreads = 256;

__device__ float Relu(float value) { return value < 0.0F ? 0.0F : value; }

__global__ void ReluKernel(const float4* __restrict__ x, float4* __restrict__ out) {
  const std::int64_t at = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
  if (at >= kCount / 4) return;
  const float4 value = x[at];
  out[at] = make_float4(Relu(value.x), Relu(value.y), Relu(value.z), Relu(value.w));
}

}  // namespace

static_assert(kCount % 4 == 0);

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  constexpr int kBlocks = (kCount / 4 + kThreads - 1) / kThreads;
  ReluKernel<<<kBlocks, kThreads, 0, stream>>>(reinterpret_cast<const float4*>(x),
                                               reinterpret_cast<float4*>(out));
}
