// KernelTarget describes the processor for which a kernel is written.
#pragma once

#include <cstdint>

namespace pragma::expert {

inline constexpr std::int64_t kFloatBytes = 4;

// The processor for which a kernel is written. The generated code is correct on any processor; its
// tuning defaults suit this one.
struct KernelTarget {
  int threads = 1;
  int lanes = 16;                                            // floats in a vector register
  int registers = 32;                                        // number of vector registers
  std::int64_t private_cache_bytes = std::int64_t{1} << 20;  // size of the last cache level that
                                                             // belongs to one core alone
  std::int64_t shared_cache_bytes = std::int64_t{16} << 20;  // usable part of the last-level cache
  bool clang = true;  // clang with OpenMP is available besides g++
};

}  // namespace pragma::expert
