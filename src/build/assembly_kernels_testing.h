// For tests: kernels whose assembly has the forms that rewriting could break, in one source.
#pragma once

#include <array>
#include <string>

namespace pragma {

inline constexpr std::array<const char*, 10> kTestKernels = {
    "kernel_triad",    "kernel_matmul", "kernel_softmax", "kernel_switch", "kernel_exceptions",
    "kernel_red_zone", "kernel_flags",  "kernel_openmp",  "kernel_types",  "kernel_stack_tile"};

inline const std::string& TestKernelsSource() {
  static const std::string source = R"(
extern "C" void kernel_triad(const float* x, float* out, void*) {
  for (int i = 0; i < 1000; ++i) out[i] = x[i] * 3.0f + x[i + 1000];
}

extern "C" void kernel_matmul(const float* x, float* out, void*) {
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j) {
      float sum = 0;
      for (int k = 0; k < 40; ++k) sum += x[i * 40 + k] * x[2000 + k * 40 + j];
      out[i * 40 + j] = sum;
    }
}

#include <cmath>
extern "C" void kernel_softmax(const float* x, float* out, void*) {
  for (int r = 0; r < 8; ++r) {
    float top = x[r * 256], sum = 0;
    for (int i = 0; i < 256; ++i) top = x[r * 256 + i] > top ? x[r * 256 + i] : top;
    for (int i = 0; i < 256; ++i) sum += out[r * 256 + i] = std::exp(x[r * 256 + i] - top);
    for (int i = 0; i < 256; ++i) out[r * 256 + i] /= sum;
  }
}

static int step(int op, int a, int b) {
  switch (op) {
    case 0: return a * 3 + b;
    case 1: return b ? a / b : 7;
    case 2: return a ^ b;
    case 3: return a << (b & 7);
    case 4: return b % 10 + a;
    case 5: return a > b ? a - b : b;
    case 6: return ~a;
    case 7: return a + (b >> 3);
    default: return -1;
  }
}
extern "C" void kernel_switch(const float* x, float* out, void*) {
  int a = 1;
  for (int i = 0; i < 3000; ++i) {
    a = step((int)(x[i] * 8) & 15, a, i);
    out[i % 500] = (float)a;
  }
}

#include <stdexcept>
#include <vector>
__attribute__((noinline)) static float check(float v) {
  if (v > 9.0f) throw std::runtime_error("too large");
  if (v < -2.5f) throw 17;
  return v + 1;
}
extern "C" void kernel_exceptions(const float* x, float* out, void*) {
  std::vector<float> kept;
  for (int i = 0; i < 500; ++i) {
    try {
      kept.push_back(check(x[i]));
    } catch (const std::runtime_error& e) {
      kept.push_back((float)e.what()[0]);
    } catch (int code) {
      kept.push_back((float)code);
    }
  }
  for (int i = 0; i < 500; ++i) out[i] = kept[i];
}

__attribute__((noinline)) static int leaf(int a, int b, int c) {
  volatile int t[12];
  for (int i = 0; i < 12; ++i) t[i] = a * i + b;
  int s = 0;
  for (int i = 0; i < 12; ++i) s += t[i] > c ? t[i] : -t[(i * 5) % 12];
  return s;
}
extern "C" void kernel_red_zone(const float* x, float* out, void*) {
  for (int i = 0; i < 300; ++i) out[i] = (float)leaf(i, (int)x[i], i / 2);
}

#include <cstdint>
#include <cstring>
static unsigned __int128 mix(unsigned __int128 v, uint64_t k) {
  v += ((unsigned __int128)k << 64) | (k * 77);
  v -= k;
  return v < k ? v * 3 : v + (v > ((unsigned __int128)1 << 100));
}
extern "C" void kernel_flags(const float* x, float* out, void*) {
  unsigned __int128 v = 12345;
  int below = 0;
  for (int i = 0; i < 700; ++i) {
    uint64_t k;
    std::memcpy(&k, x + i, 8);
    unsigned __int128 n = mix(v, k);
    below += (n < v) + ((int64_t)n < (int64_t)v) - (k > (uint64_t)(n >> 64));
    v = n;
    out[i] = (float)below + (float)(uint32_t)(v >> 70);
  }
}

extern "C" void kernel_openmp(const float* x, float* out, void*) {
  float sum = 0;
#pragma omp parallel
  {
#pragma omp for schedule(static) reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) { out[i] = x[i] * x[i]; sum += x[i]; }
#pragma omp for schedule(dynamic, 16)
    for (int i = 0; i < 1000; ++i) out[i + 1000] = out[i] - 1.0f;
  }
  out[2000] = sum;
}

#include <cstdint>
#include <cmath>
extern "C" void kernel_types(const float* x, float* out, void* scratch) {
  auto* d = static_cast<double*>(scratch);
  auto* b = reinterpret_cast<int8_t*>(d + 1000);
  auto* h = reinterpret_cast<uint16_t*>(b + 1000);
  for (int i = 0; i < 1000; ++i) d[i] = std::sqrt((double)x[i] * x[i] + 1.0);
  for (int i = 0; i < 1000; ++i) b[i] = (int8_t)(x[i] * 4);
  for (int i = 0; i < 1000; ++i) h[i] = (uint16_t)(b[i] * 3 + i);
  int64_t sum = 0;
  for (int i = 0; i < 1000; ++i) sum += h[i] - b[(i * 7) % 1000];
  for (int i = 0; i < 1000; ++i) out[i] = (float)d[i] + (float)h[i] + x[((int)h[i]) & 1023];
  out[1000] = (float)sum;
}

#include <cstring>
extern "C" void kernel_stack_tile(const float* x, float* out, void*) {
  for (int t = 0; t < 20; ++t) {
    alignas(64) float tile[300];
    std::memcpy(tile, x + t * 100, sizeof tile);
    float row[16] = {};
    for (int i = 0; i < 300; ++i) row[i & 15] += tile[(i * 7 + t) % 300];
    std::memcpy(out + t * 16, row, sizeof row);
  }
  std::memset(out + 4000, 0, 2000);
}
)";
  return source;
}

}  // namespace pragma
