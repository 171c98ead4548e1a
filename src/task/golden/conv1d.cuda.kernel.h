// kernel.h of task conv1d (CUDA, ABI version 1), written by pragma.
#pragma once

#include <cstddef>
#include <cstdint>

namespace task {
// Constructor arguments of Model.
inline constexpr std::int64_t in_channels = 3;
inline constexpr std::int64_t out_channels = 64;
inline constexpr std::int64_t kernel_size = 3;
// Shapes. All tensors are contiguous (last dimension fastest) and 512-byte aligned.
inline constexpr std::int64_t x_dims[] = {16, 3, 512};  // input args[0]
inline constexpr std::int64_t conv1d_weight_dims[] = {64, 3, 3};  // parameter conv1d.weight
inline constexpr std::int64_t conv1d_bias_dims[] = {64};  // parameter conv1d.bias
inline constexpr std::int64_t out_dims[] = {16, 64, 510};  // output output
}  // namespace task

// Launches the kernels, on the stream given, and returns; all tensors lie in the device's memory.
// scratch is null unless the source defines (and so asks for)
//   constinit const std::size_t pragma_scratch_bytes = ...;
extern "C" const std::size_t pragma_scratch_bytes;
extern "C" void pragma_launch(const float* x,
    const float* conv1d_weight,
    const float* conv1d_bias,
    float* out,
    void* scratch,
    cudaStream_t stream);

// PRAGMA_TUNE(NAME, default, value, value, ...);  (with the semicolon) is an int constant that the
// tuner may set to any of the values (-DPRAGMA_TUNE_NAME=value).
namespace pragma_detail {
constexpr int tuned(const char* text, int otherwise) {
  const bool negative = *text == '-';
  const char* digit = negative ? text + 1 : text;
  if (*digit < '0' || *digit > '9') return otherwise;
  int value = 0;
  for (; *digit >= '0' && *digit <= '9'; ++digit) value = value * 10 + (*digit - '0');
  return negative ? -value : value;
}
}  // namespace pragma_detail
#define PRAGMA_TUNE_QUOTE_(x) #x
#define PRAGMA_TUNE_TEXT_(x) PRAGMA_TUNE_QUOTE_(x)
#define PRAGMA_TUNE(name, otherwise, ...) \
  [[maybe_unused]] static constexpr int name = \
      ::pragma_detail::tuned(PRAGMA_TUNE_TEXT_(PRAGMA_TUNE_##name), (otherwise))
