// task: tests/gpu/tasks/softmax_wide.py
// A row to each cluster of four blocks. Each keeps a quarter of it, and reads maximum and sum of the other quarters
// from the shared memory of the other blocks.
#include <cooperative_groups.h>

namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kCluster = 4;
constexpr int kPart = (kColumns + kCluster - 1) / kCluster;
constexpr int kThreads = 256;

template <class Fold>
__device__ float AcrossBlock(float value, Fold fold) {
  __shared__ float parts[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) value = fold(value, __shfl_xor_sync(0xffffffffU, value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[0];
  for (int i = 1; i < kThreads / 32; ++i) value = fold(value, parts[i]);
  return value;
}

// Of all threads of the cluster, to each of them. `mine` is shared memory, of which each use has its own.
template <class Fold>
__device__ float AcrossCluster(float value, float* mine, Fold fold) {
  const auto cluster = cooperative_groups::this_cluster();
  value = AcrossBlock(value, fold);
  if (threadIdx.x == 0) *mine = value;
  cluster.sync();
  value = *cluster.map_shared_rank(mine, 0);
  for (int i = 1; i < kCluster; ++i) value = fold(value, *cluster.map_shared_rank(mine, i));
  return value;
}

__global__ void __launch_bounds__(kThreads) Softmax(const float* __restrict__ x, float* __restrict__ out) {
  __shared__ float held[kPart];
  __shared__ float greatest;
  __shared__ float total;
  const int begin = blockIdx.x % kCluster * kPart;
  const int count = begin + kPart < kColumns ? kPart : kColumns - begin;
  const std::int64_t first = std::int64_t{blockIdx.x / kCluster} * kColumns + begin;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < count; i += kThreads) {
    held[i] = x[first + i];
    most = fmaxf(most, held[i]);
  }
  most = AcrossCluster(most, &greatest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0F;
  for (int i = threadIdx.x; i < count; i += kThreads) {
    held[i] = expf(held[i] - most);
    sum += held[i];
  }
  sum = AcrossCluster(sum, &total, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < count; i += kThreads) out[first + i] = held[i] / sum;
  // No block ends while another one may still read its shared memory.
  cooperative_groups::this_cluster().sync();
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = kCluster;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kRows * kCluster);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, Softmax, x, out);
}
