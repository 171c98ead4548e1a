// kernel.h of task odd name */   (ABI version 1), written by pragma.
#pragma once

#include <cstddef>
#include <cstdint>

namespace task {
// Constructor arguments of Model.
inline constexpr std::int64_t n_dims = (-9223372036854775807 - 1);
inline constexpr double eps = 1e-05;
inline constexpr double one = 1.0;
inline constexpr double huge = __builtin_inf();
// nothing: None
inline constexpr char mode[] = "a\042b\134\012\303\251\077\077=7";
inline constexpr std::int64_t sizes[] = {1, 2};
inline constexpr double mixed[] = {1.0, 0.5};
inline constexpr bool flags[] = {true, false};
inline constexpr const char* names[] = {"x", "y"};
inline constexpr std::int64_t nested_0[] = {1};
inline constexpr char nested_1[] = "z";
// nested_2: None
// empty: an empty list
// Arguments of forward that are no tensors.
inline constexpr double eps_2 = __builtin_nan("");
inline constexpr bool keep = true;
// Shapes. All tensors are contiguous (last dimension fastest) and 64-byte aligned.
inline constexpr std::int64_t in_0_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_1_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_2_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_3_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_4_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_5_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_6_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_7_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_8_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t in_9_dims[] = {2, 3};  // input args [ 
inline constexpr std::int64_t n_dims_2[] = {1};  // buffer n, a scalar
inline constexpr std::int64_t out_0_dims[] = {0, 3};  // output output[0]
inline constexpr std::int64_t out_1_dims[] = {1};  // output output[1], a scalar
}  // namespace task

// bfloat16: the upper half of a float.
struct pragma_bf16 {
  std::uint16_t bits;
};
inline float pragma_bf16_to_float(pragma_bf16 value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16);
}
// To nearest, ties to even, as torch rounds.
inline pragma_bf16 pragma_float_to_bf16(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  if (value != value) return {static_cast<std::uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

// The kernel. scratch is null unless the source defines (and so asks for)
//   constinit const std::size_t pragma_scratch_bytes = ...;
extern "C" const std::size_t pragma_scratch_bytes;
#ifndef PRAGMA_PREPACKED
extern "C" void pragma_kernel(const float* in_0,
    const double* in_1,
    const pragma_bf16* in_2,
    const _Float16* in_3,
    const std::int8_t* in_4,
    const std::int16_t* in_5,
    const std::int32_t* in_6,
    const std::int64_t* in_7,
    const std::uint8_t* in_8,
    const bool* in_9,
    const std::int64_t* n,
    pragma_bf16* out_0,
    bool* out_1,
    void* scratch);
#else
// With `#define PRAGMA_PREPACKED` before the include: pragma_prepare runs after each change of
// parameters and is timed on its own; what it writes is what the kernel gets as packed. Needs
//   constinit const std::size_t pragma_packed_bytes = ...;
extern "C" const std::size_t pragma_packed_bytes;
extern "C" void pragma_prepare(const std::int64_t* n,
    void* packed);
extern "C" void pragma_kernel(const float* in_0,
    const double* in_1,
    const pragma_bf16* in_2,
    const _Float16* in_3,
    const std::int8_t* in_4,
    const std::int16_t* in_5,
    const std::int32_t* in_6,
    const std::int64_t* in_7,
    const std::uint8_t* in_8,
    const bool* in_9,
    const std::int64_t* n,
    pragma_bf16* out_0,
    bool* out_1,
    const void* packed,
    void* scratch);
#endif

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
