// KernelTarget describes the processor for which a kernel is written.
#pragma once

#include <cstdint>

namespace pragma::expert {

inline constexpr std::int64_t kFloatBytes = 4;
// Shared memory that one block of an H100, an H200 or a B200 may use. What is measured of GPUs was
// measured with it.
inline constexpr std::int64_t kMeasuredSharedBytes = std::int64_t{227} << 10;

// The processor for which a kernel is written. The generated code is correct on any processor; its
// tuning defaults suit this one. On a GPU its blocks fit into the shared memory.
struct KernelTarget {
  int threads = 1;
  int lanes = 16;                                            // floats in a vector register
  int registers = 32;                                        // number of vector registers
  std::int64_t private_cache_bytes = std::int64_t{1} << 20;  // size of the last cache level that
                                                             // belongs to one core alone
  std::int64_t shared_cache_bytes = std::int64_t{16} << 20;  // usable part of the last-level cache
  bool clang = true;  // clang with OpenMP is available besides g++
  std::int64_t block_shared_bytes = kMeasuredSharedBytes;  // of a GPU, that one block may use
};

}  // namespace pragma::expert
