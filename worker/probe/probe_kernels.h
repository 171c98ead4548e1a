// The measured loops of pragma-probe, once per instruction set.
#pragma once

#include <cstddef>

namespace probe {

struct Kernels {
  int lanes;  // floats per vector
  // `rounds` dependent steps of 12 independent fused multiply-adds; returns something to keep.
  float (*fma)(long rounds);
  float (*read)(const float* data, std::size_t count);
  void (*copy)(float* to, const float* from, std::size_t count);
  void (*write)(float* data, std::size_t count);
  // With stores past the caches, which read no line before they write it; the same where the
  // instruction set has none. `to` and `data` aligned to 64 bytes.
  void (*copy_past)(float* to, const float* from, std::size_t count);
  void (*write_past)(float* data, std::size_t count);
};

const Kernels& base();
const Kernels& avx2();
const Kernels& avx512();
inline constexpr int kFmaChains = 12;

}  // namespace probe
