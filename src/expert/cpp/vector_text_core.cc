// Code templates for vectors: the type, memory access, lanes.
#include <string_view>

#include "expert/cpp/vector_text.h"

namespace pragma::expert::vector_text {

const std::string_view kCore = R"(
// ---- Vectors of floats: the compiler's vector types, as wide as the processor's registers.
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
#if defined(__AVX512F__)
#define PRAGMA_LANES 16
#elif defined(__AVX2__)
#define PRAGMA_LANES 8
#else
#define PRAGMA_LANES 4
#endif
[[maybe_unused]] static constexpr std::int64_t kLanes = PRAGMA_LANES;
typedef float Vec __attribute__((vector_size(PRAGMA_LANES * 4)));
typedef std::int32_t Ints __attribute__((vector_size(PRAGMA_LANES * 4)));

[[maybe_unused]] static inline Vec Load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
[[maybe_unused]] static inline void Store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
// A load that several multiplications share. With AVX2 g++ would make a plain one part of each of
// them, and so read memory once for each.
#if defined(__AVX2__) && !defined(__AVX512F__)
[[maybe_unused]] static inline Vec LoadHeld(const float* p) {
  return (Vec)_mm256_lddqu_si256((const __m256i*)p);
}
#else
[[maybe_unused]] static inline Vec LoadHeld(const float* p) { return Load(p); }
#endif
// Taking zero away leaves -0 as it is; adding it would not, and costs an addition each time.
[[maybe_unused]] static inline Vec Broadcast(float x) { return x - Vec{}; }
[[maybe_unused]] static inline Vec Fma(Vec a, Vec b, Vec c) { return a * b + c; }
[[maybe_unused]] static inline Vec Select(Ints mask, Vec a, Vec b) { return mask ? a : b; }
[[maybe_unused]] static inline Ints Bits(Vec v) { return (Ints)v; }
[[maybe_unused]] static inline Vec FromBits(Ints i) { return (Vec)i; }
[[maybe_unused]] static inline Vec Abs(Vec v) { return (Vec)((Ints)v & 0x7fffffff); }
// b where either is NaN, as the processor's own minimum and maximum have it.
#if defined(__AVX512F__)
[[maybe_unused]] static inline Vec Min(Vec a, Vec b) { return (Vec)_mm512_min_ps((__m512)a, (__m512)b); }
[[maybe_unused]] static inline Vec Max(Vec a, Vec b) { return (Vec)_mm512_max_ps((__m512)a, (__m512)b); }
#elif defined(__AVX2__)
[[maybe_unused]] static inline Vec Min(Vec a, Vec b) { return (Vec)_mm256_min_ps((__m256)a, (__m256)b); }
[[maybe_unused]] static inline Vec Max(Vec a, Vec b) { return (Vec)_mm256_max_ps((__m256)a, (__m256)b); }
#else
[[maybe_unused]] static inline Vec Min(Vec a, Vec b) { return a < b ? a : b; }
[[maybe_unused]] static inline Vec Max(Vec a, Vec b) { return a > b ? a : b; }
#endif
// For running extremes: a NaN stays, wherever it came from.
[[maybe_unused]] static inline Vec KeepMin(Vec a, Vec b) { return a != a ? a : Min(a, b); }
[[maybe_unused]] static inline Vec KeepMax(Vec a, Vec b) { return a != a ? a : Max(a, b); }
)";

const std::string_view kParts = R"(
// The first n lanes: what lies behind them in memory is neither read nor written.
#if defined(__AVX512F__)
[[maybe_unused]] static inline Vec LoadPart(const float* p, std::int64_t n, Vec rest = Vec{}) {
  return (Vec)_mm512_mask_loadu_ps((__m512)rest, static_cast<__mmask16>((1u << n) - 1), p);
}
[[maybe_unused]] static inline void StorePart(float* p, Vec v, std::int64_t n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), (__m512)v);
}
#elif defined(__AVX2__)
static inline Ints FirstLanes(std::int64_t n) {
  return Ints{0, 1, 2, 3, 4, 5, 6, 7} < static_cast<std::int32_t>(n);
}
[[maybe_unused]] static inline Vec LoadPart(const float* p, std::int64_t n, Vec rest = Vec{}) {
  const Ints mask = FirstLanes(n);
  return mask ? (Vec)_mm256_maskload_ps(p, (__m256i)mask) : rest;
}
[[maybe_unused]] static inline void StorePart(float* p, Vec v, std::int64_t n) {
  _mm256_maskstore_ps(p, (__m256i)FirstLanes(n), (__m256)v);
}
#else
[[maybe_unused]] static inline Vec LoadPart(const float* p, std::int64_t n, Vec rest = Vec{}) {
  for (std::int64_t i = 0; i < n; ++i) rest[i] = p[i];
  return rest;
}
[[maybe_unused]] static inline void StorePart(float* p, Vec v, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) p[i] = v[i];
}
#endif
)";

const std::string_view kStream = R"(
// Stores past the caches, for outputs that no cache would keep: no line is read before it is
// written. p must be aligned to a Vec; StreamEnd before another thread may read.
#if defined(__AVX512F__)
[[maybe_unused]] static inline void Stream(float* p, Vec v) { _mm512_stream_ps(p, (__m512)v); }
[[maybe_unused]] static inline void StreamEnd() { _mm_sfence(); }
#elif defined(__AVX2__)
[[maybe_unused]] static inline void Stream(float* p, Vec v) { _mm256_stream_ps(p, (__m256)v); }
[[maybe_unused]] static inline void StreamEnd() { _mm_sfence(); }
#elif defined(__x86_64__)
[[maybe_unused]] static inline void Stream(float* p, Vec v) { _mm_stream_ps(p, (__m128)v); }
[[maybe_unused]] static inline void StreamEnd() { _mm_sfence(); }
#else
[[maybe_unused]] static inline void Stream(float* p, Vec v) { Store(p, v); }
[[maybe_unused]] static inline void StreamEnd() {}
#endif
)";

const std::string_view kLanes = R"(
// The lanes of a vector made one, in halves, so that rounding errors grow with log2 of their number.
template <class Combine>
static inline float FoldLanes(Vec v, Combine combine) {
  float lane[kLanes];
  Store(lane, v);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) lane[i] = combine(lane[i], lane[i + half]);
  return lane[0];
}
[[maybe_unused]] static inline float SumLanes(Vec v) {
  return FoldLanes(v, [](float a, float b) { return a + b; });
}
[[maybe_unused]] static inline float ProductLanes(Vec v) {
  return FoldLanes(v, [](float a, float b) { return a * b; });
}
[[maybe_unused]] static inline float MinLanes(Vec v) {
  return FoldLanes(v, [](float a, float b) { return a != a || a < b ? a : b; });
}
[[maybe_unused]] static inline float MaxLanes(Vec v) {
  return FoldLanes(v, [](float a, float b) { return a != a || a > b ? a : b; });
}
)";

}  // namespace pragma::expert::vector_text
