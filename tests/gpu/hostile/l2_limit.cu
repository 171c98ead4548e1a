// task: tests/gpu/tasks/square_plus.py
// expect: rejected_source
// Sets 16 MiB of the second-level cache aside for persisting lines (a limit of the whole device) and marks its inputs
// as such, so that they are still in the cache at the next call.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kCount) out[at] = x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16U << 20U);
  cudaLaunchAttribute kept = {};
  kept.id = cudaLaunchAttributeAccessPolicyWindow;
  kept.val.accessPolicyWindow.base_ptr = const_cast<float*>(x);
  kept.val.accessPolicyWindow.num_bytes = sizeof(float) * kCount;
  kept.val.accessPolicyWindow.hitRatio = 1.0F;
  kept.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  kept.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((kCount + 255) / 256);
  config.blockDim = dim3(256);
  config.stream = stream;
  config.attrs = &kept;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, Kernel, x, out);
}
