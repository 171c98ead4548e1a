// This file is compiled once per instruction set, and PRAGMA_PROBE_SET names the function. It uses
// GCC vector extensions, whose width follows the flags.
#include "probe_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstring>

// The asm constraint of a vector register.
#if defined(__aarch64__)
#define PRAGMA_REG "+w"
#elif defined(__AVX512F__)
#define PRAGMA_REG "+v"
#else
#define PRAGMA_REG "+x"
#endif

namespace probe {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr int kLanes = kBytes / 4;
typedef float Vector __attribute__((vector_size(kBytes), aligned(4)));

Vector Load(const float* p) { return *reinterpret_cast<const Vector*>(p); }
void Store(float* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
#if defined(__AVX512F__)
void StorePast(float* p, Vector v) { _mm512_stream_ps(p, (__m512)v); }
#elif defined(__AVX2__)
void StorePast(float* p, Vector v) { _mm256_stream_ps(p, (__m256)v); }
#elif defined(__x86_64__)
void StorePast(float* p, Vector v) { _mm_stream_ps(p, (__m128)v); }
#else
void StorePast(float* p, Vector v) { Store(p, v); }
#endif
void EndPast() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

float Fma(long rounds) {
  Vector a{};
  a += 0.999999F;
  Vector b{};
  b += 1e-9F;
  Vector c0{}, c1{}, c2{}, c3{}, c4{}, c5{}, c6{}, c7{}, c8{}, c9{}, c10{}, c11{};
  for (long i = 0; i < rounds; ++i) {
    c0 = c0 * a + b;
    c1 = c1 * a + b;
    c2 = c2 * a + b;
    c3 = c3 * a + b;
    c4 = c4 * a + b;
    c5 = c5 * a + b;
    c6 = c6 * a + b;
    c7 = c7 * a + b;
    c8 = c8 * a + b;
    c9 = c9 * a + b;
    c10 = c10 * a + b;
    c11 = c11 * a + b;
    // Keeps twelve separate chains in registers.
    asm volatile(""
                 : PRAGMA_REG(c0), PRAGMA_REG(c1), PRAGMA_REG(c2), PRAGMA_REG(c3), PRAGMA_REG(c4),
                   PRAGMA_REG(c5));
    asm volatile(""
                 : PRAGMA_REG(c6), PRAGMA_REG(c7), PRAGMA_REG(c8), PRAGMA_REG(c9), PRAGMA_REG(c10),
                   PRAGMA_REG(c11));
  }
  const Vector sum = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + c10 + c11;
  return sum[0];
}

float Read(const float* data, std::size_t count) {
  Vector s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{};
  for (std::size_t i = 0; i + 8 * kLanes <= count; i += 8 * kLanes) {
    s0 += Load(data + i);
    s1 += Load(data + i + kLanes);
    s2 += Load(data + i + 2 * kLanes);
    s3 += Load(data + i + 3 * kLanes);
    s4 += Load(data + i + 4 * kLanes);
    s5 += Load(data + i + 5 * kLanes);
    s6 += Load(data + i + 6 * kLanes);
    s7 += Load(data + i + 7 * kLanes);
  }
  const Vector sum = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
  return sum[0];
}

template <void (*kPut)(float*, Vector)>
void CopyBy(float* to, const float* from, std::size_t count) {
  for (std::size_t i = 0; i + 4 * kLanes <= count; i += 4 * kLanes) {
    const Vector a = Load(from + i), b = Load(from + i + kLanes);
    const Vector c = Load(from + i + 2 * kLanes), d = Load(from + i + 3 * kLanes);
    kPut(to + i, a);
    kPut(to + i + kLanes, b);
    kPut(to + i + 2 * kLanes, c);
    kPut(to + i + 3 * kLanes, d);
    asm volatile("" ::: "memory");  // prevents a call to memcpy
  }
}

template <void (*kPut)(float*, Vector)>
void WriteBy(float* data, std::size_t count) {
  Vector one{};
  one += 1.0F;
  for (std::size_t i = 0; i + 4 * kLanes <= count; i += 4 * kLanes) {
    for (int k = 0; k < 4; ++k) kPut(data + i + k * kLanes, one);
    asm volatile("" ::: "memory");  // prevents a call to memset
  }
}

void CopyPast(float* to, const float* from, std::size_t count) {
  CopyBy<StorePast>(to, from, count);
  EndPast();
}

void WritePast(float* data, std::size_t count) {
  WriteBy<StorePast>(data, count);
  EndPast();
}

}  // namespace

const Kernels& PRAGMA_PROBE_SET() {
  static const Kernels kernels{kLanes,         Fma,      Read,     CopyBy<Store>,
                               WriteBy<Store>, CopyPast, WritePast};
  return kernels;
}

}  // namespace probe
