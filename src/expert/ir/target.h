// KernelTarget: the processor that a kernel is written for.
#pragma once

#include <cstdint>

namespace pragma::expert {

inline constexpr std::int64_t kFloatBytes = 4;

// The processor that a kernel is written for. The text is right on any; its defaults suit this one.
struct KernelTarget {
  int threads = 1;
  int lanes = 16;                                            // floats in a vector register
  int registers = 32;                                        // vector registers
  std::int64_t private_cache_bytes = std::int64_t{1} << 20;  // the last level of one core alone
  std::int64_t shared_cache_bytes = std::int64_t{16} << 20;  // the last level, as far as usable
  bool clang = true;                                         // is there beside g++, with OpenMP
};

}  // namespace pragma::expert
