// What all cases have: memory with values, two variants, a region for the profiler, times without it.
//   CASE slow|fixed|both [time]
// Each case defines Prepare, Slow, Fixed and Result.
#pragma once
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__device__ inline float ValueAt(std::uint32_t at) {
  at ^= at >> 16;
  at *= 0x7feb352dU;
  at ^= at >> 15;
  at *= 0x846ca68bU;
  at ^= at >> 16;
  return static_cast<float>(at) * 0x1p-32F - 0.5F;
}

__global__ void FillValues(float* values, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) values[i] = ValueAt(i);
}

template <class T>
T* Memory(std::size_t count) {
  void* memory = nullptr;
  Check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  Check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return static_cast<T*>(memory);
}

inline float* Values(std::size_t count) {
  auto* values = Memory<float>(count);
  FillValues<<<1024, 256>>>(values, count);
  return values;
}

struct Output {
  const float* values;
  std::size_t count;
};

void Prepare();
void Slow();
void Fixed();
Output Result();

inline void Run(bool slow) {
  slow ? Slow() : Fixed();
  Check(cudaGetLastError(), "launch");
}

inline double Sum() {
  const Output output = Result();
  std::vector<float> values(output.count);
  Check(cudaMemcpy(values.data(), output.values, output.count * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  double sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

inline float Microseconds(bool slow) {
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin), "event");
  Check(cudaEventCreate(&end), "event");
  std::vector<float> found;
  for (int i = 0; i < 9; ++i) {
    Check(cudaEventRecord(begin), "record");
    Run(slow);
    Check(cudaEventRecord(end), "record");
    Check(cudaEventSynchronize(end), "synchronise");
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, begin, end), "elapsed");
    found.push_back(ms * 1000);
  }
  std::sort(found.begin(), found.end());
  return found[found.size() / 2];
}

inline void Time(bool slow) {
  Run(slow);
  Check(cudaDeviceSynchronize(), "warm-up");
  const double sum = Sum();
  std::printf("{\"variant\": \"%s\", \"us\": %.3f, \"sum\": %.6g}\n", slow ? "slow" : "fixed", Microseconds(slow), sum);
}

inline void Show(bool slow) {
  Run(slow);
  Check(cudaDeviceSynchronize(), "warm-up");
  Check(cudaProfilerStart(), "profiler");
  Run(slow);
  Check(cudaDeviceSynchronize(), "run");
  Check(cudaProfilerStop(), "profiler");
}

int main(int count, char** words) {
  const char* variant = count > 1 ? words[1] : "both";
  Prepare();
  for (const bool slow : {true, false})
    if (std::strcmp(variant, "both") == 0 || std::strcmp(variant, slow ? "slow" : "fixed") == 0) count > 2 ? Time(slow) : Show(slow);
  return 0;
}
