// The measured loops of pragma-probe, compiled once per instruction set.
#pragma once

#include <cstddef>

namespace probe {

struct Kernels {
  int lanes;  // floats per vector
  // Runs `rounds` dependent steps of 12 independent fused multiply-adds. Returns a value that keeps
  // the compiler from removing them.
  float (*fma)(long rounds);
  float (*read)(const float* data, std::size_t count);
  void (*copy)(float* to, const float* from, std::size_t count);
  void (*write)(float* data, std::size_t count);
  // Variants with non-temporal (streaming) stores, which do not read a line before they write it.
  // They equal the plain variants where the instruction set has no such stores. `to` and `data`
  // must be aligned to 64 bytes.
  void (*copy_past)(float* to, const float* from, std::size_t count);
  void (*write_past)(float* data, std::size_t count);
};

const Kernels& base();
const Kernels& avx2();
const Kernels& avx512();
inline constexpr int kFmaChains = 12;

}  // namespace probe
