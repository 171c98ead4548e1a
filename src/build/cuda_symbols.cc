// Which functions of CUDA's runtime the host code of a candidate may call: those that its worker
// implements (worker/cuda/runtime.c). Everything else is refused, with the reason and a way out.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "build/audit.h"

namespace pragma {
namespace {

constexpr std::string_view kRuntime[] = {
    // functions that nvcc's own host code calls
    "__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary",
    "__cudaRegisterFunction", "__cudaRegisterVar", "__cudaPushCallConfiguration",
    "__cudaPopCallConfiguration", "__cudaGetKernel", "__cudaLaunchKernel",
    // launches, and the functions that they need
    "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel",
    "cudaFuncSetAttribute", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "cudaGetDevice",
    "cudaDeviceGetAttribute", "cudaMemsetAsync", "cudaMemcpyAsync", "cudaGetSymbolAddress",
    "cudaMemcpyToSymbolAsync", "cudaPeekAtLastError", "cudaGetLastError", "cudaGetErrorString"};

// Further functions that nvcc puts into host code. It unregisters device code at the end, and a
// __device__ function that the host calls ends the process.
constexpr std::string_view kHost[] = {"atexit", "exit"};

struct Family {
  std::string_view prefix;
  std::string_view advice;
};

// The first entry that matches counts.
constexpr Family kFamilies[] = {
    {"cudaMallocManaged", "ask for scratch memory: pragma_scratch_bytes"},
    {"cudaMalloc", "ask for scratch memory: pragma_scratch_bytes"},
    {"cudaFree", "ask for scratch memory: pragma_scratch_bytes"},
    {"cudaDeviceSynchronize", "pragma waits for the device; launch and return"},
    {"cudaStreamSynchronize", "pragma waits for the device; launch and return"},
    {"cudaEvent", "pragma takes the times; launch and return"},
    {"cudaStream", "use the stream that pragma_launch is given"},
    {"cudaGraph", "launch kernels on the stream that pragma_launch is given"},
    {"cudaLaunchHostFunc", "compute in kernels"},
    {"cudaMemcpyFromSymbol", "only copies within the device: cudaMemcpyToSymbolAsync"},
    {"cudaMemcpy", "only copies within the device, with a stream: cudaMemcpyAsync"},
    {"cudaMemset", "with a stream: cudaMemsetAsync"},
    {"cudaGetDeviceProperties", "cudaDeviceGetAttribute gives single figures quickly"},
    {"__cudaRegisterManaged", "ask for scratch memory: pragma_scratch_bytes"},
    {"__cudaInitModule", "ask for scratch memory: pragma_scratch_bytes"},
    {"cublas", "no library may be called; write the product yourself"},
    {"cudnn", "no library may be called; write it yourself"},
    {"cufft", "no library may be called; write the transform yourself"},
    {"cu", "a kernel may launch, set attributes of its kernels, and set and copy device memory"}};

template <class List>
bool Contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

}  // namespace

std::string CudaSymbolComplaint(const std::string& symbol) {
  if (Contains(kRuntime, symbol) || Contains(kHost, symbol)) return {};
  for (const Family& family : kFamilies) {
    if (symbol.starts_with(family.prefix))
      return "uses " + symbol + ": " + std::string(family.advice);
  }
  return SymbolComplaint(symbol, /*openmp=*/false);
}

}  // namespace pragma
