// Code templates for elementary functions. The polynomials are minimax fits on the stated
// intervals, in single precision. Each comment states the largest error found, in units in the last
// place (ulp), and the tests check the code against it.
#include <string_view>
#include <vector>

#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/vector_text.h"

namespace pragma::expert::vector_text {
namespace {

constexpr std::string_view kSqrt = R"(
#if defined(__AVX512F__)
[[maybe_unused]] static inline Vec Sqrt(Vec v) { return (Vec)_mm512_sqrt_ps((__m512)v); }
#elif defined(__AVX2__)
[[maybe_unused]] static inline Vec Sqrt(Vec v) { return (Vec)_mm256_sqrt_ps((__m256)v); }
#elif defined(__x86_64__)
[[maybe_unused]] static inline Vec Sqrt(Vec v) { return (Vec)_mm_sqrt_ps((__m128)v); }
#elif defined(__aarch64__)
[[maybe_unused]] static inline Vec Sqrt(Vec v) { return (Vec)vsqrtq_f32((float32x4_t)v); }
#else
[[maybe_unused]] static inline Vec Sqrt(Vec v) {
  for (std::int64_t i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}
#endif
)";

constexpr std::string_view kRound = R"(
// Adding and taking away 1.5 * 2^23 rounds to the nearest even integer; from 2^23 on every float
// is one already (and NaN stays NaN). The sign is kept, so that -0.3 becomes -0.
[[maybe_unused]] static inline Vec RoundEven(Vec v) {
  const Vec rounded = (Abs(v) + 8388608.0f) - 8388608.0f;
  const Vec whole = FromBits(Bits(rounded) | (Bits(v) & static_cast<std::int32_t>(0x80000000)));
  return Abs(v) < 8388608.0f ? whole : v;
}
[[maybe_unused]] static inline Vec Trunc(Vec v) {
  const Vec rounded = Abs(RoundEven(v));
  const Vec down = rounded > Abs(v) ? rounded - 1.0f : rounded;
  const Vec whole = FromBits(Bits(down) | (Bits(v) & static_cast<std::int32_t>(0x80000000)));
  return Abs(v) < 8388608.0f ? whole : v;
}
[[maybe_unused]] static inline Vec Floor(Vec v) {
  const Vec rounded = RoundEven(v);
  return rounded > v ? rounded - 1.0f : rounded;
}
[[maybe_unused]] static inline Vec Ceil(Vec v) {
  const Vec rounded = RoundEven(v);
  return rounded < v ? rounded + 1.0f : rounded;
}
)";

constexpr std::string_view kExpNormal = R"(
// e^(x - n ln(2)) - 1 where n is x / ln(2), rounded: what is left is at most ln(2)/2.
static inline Vec ExpRestMinus1(Vec x, Vec n) {
  const Vec r = (x - n * 0.693145752f) - n * 1.42860677e-06f;
  Vec p = Broadcast(0.00139504892f);
  p = p * r + 0.0083688898f;
  p = p * r + 0.041666206f;
  p = p * r + 0.166665182f;
  p = p * r + 0.5f;
  return p * (r * r) + r;
}
// 1.5 * 2^23 rounds x / ln(2) to an integer; 127 is the exponent's bias. The lowest bits are the
// exponent's then; what stands above them is shifted out.
static constexpr float kExpShift = 12583039.0f;
static inline Vec ExpShifted(Vec x) { return x * 1.44269504f + kExpShift; }
static inline Vec PowerOfTwo(Vec shifted) { return FromBits(Bits(shifted) << 23); }
// exp of x in [-88, 89], at most 1 ulp: e^x = 2^n e^r. 0 and infinity for results below 2^-126.5
// and above 2^127.5.
[[maybe_unused]] static inline Vec ExpNormal(Vec x) {
  const Vec shifted = ExpShifted(x);
  return (ExpRestMinus1(x, shifted - kExpShift) + 1.0f) * PowerOfTwo(shifted);
}
)";

constexpr std::string_view kExp = R"(
// exp, at most 1 ulp. Results below the smallest normal number are right to that number's ulp; NaN
// stays NaN.
[[maybe_unused]] static inline Vec Exp(Vec x) {
  x = Max(Broadcast(-104.0f), Min(Broadcast(89.0f), x));
#if defined(__AVX512F__)
  const Vec n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  return (Vec)_mm512_scalef_ps((__m512)(ExpRestMinus1(x, n) + 1.0f), (__m512)n);
#else
  // 2^n in two factors: n reaches from -150 to 128, further than one exponent.
  const Vec shifted = x * 1.44269504f + 12583166.0f;
  const Ints whole = Bits(shifted);
  const Ints half = whole >> 1;
  const Vec rest = ExpRestMinus1(x, shifted - 12583166.0f) + 1.0f;
  return rest * FromBits(half << 23) * FromBits((whole - half) << 23);
#endif
}
)";

constexpr std::string_view kExpNegative = R"(
// exp of what is at most 0, at most 1 ulp; 0 for results below the smallest normal number.
[[maybe_unused]] static inline Vec ExpNegative(Vec x) { return ExpNormal(Max(Broadcast(-88.0f), x)); }
)";

constexpr std::string_view kExpMinus1 = R"(
// e^x - 1, at most 2 ulp: 2^n (e^r - 1) + (2^n - 1), by half of it, since 2^128 is no number.
[[maybe_unused]] static inline Vec ExpMinus1(Vec x) {
  x = Max(Broadcast(-30.0f), Min(Broadcast(89.0f), x));
  const Vec shifted = ExpShifted(x);
  const Vec power = PowerOfTwo(shifted - 1.0f);
  const Vec half = ExpRestMinus1(x, shifted - kExpShift) * power + (power - 0.5f);
  return half + half;
}
)";

constexpr std::string_view kLog = R"(
// log, at most 1 ulp: x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). -infinity at 0, NaN below.
[[maybe_unused]] static inline Vec Log(Vec x) {
  const Ints denormal = x < 1.17549435e-38f;
  const Vec scaled = denormal ? x * 8388608.0f : x;
  const Ints bits = Bits(scaled) - 0x3f3504f3;  // sqrt(1/2)
  const Vec n = __builtin_convertvector(bits >> 23, Vec) - (denormal ? Broadcast(23.0f) : Vec{});
  const Vec f = FromBits((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
  Vec p = Broadcast(0.0691516548f);
  p = p * f - 0.117897049f;
  p = p * f + 0.118730128f;
  p = p * f - 0.123843685f;
  p = p * f + 0.142186552f;
  p = p * f - 0.166692495f;
  p = p * f + 0.200022265f;
  p = p * f - 0.249999866f;
  p = p * f + 0.333333105f;
  const Vec square = f * f;
  Vec y = p * (square * f) + n * 1.42860677e-06f;
  y = f - (0.5f * square - y) + n * 0.693145752f;
  y = x < __builtin_inff() ? y : x;  // infinity, NaN
  y = x == 0.0f ? Broadcast(-__builtin_inff()) : y;
  return x < 0.0f ? Broadcast(__builtin_nanf("")) : y;
}
)";

constexpr std::string_view kLog1p = R"(
// log(1 + x), at most 3 ulp: what 1 + x rounds away is put back to first order.
[[maybe_unused]] static inline Vec Log1p(Vec x) {
  const Vec u = x + 1.0f;
  const Vec lost = ((u > 0.0f) & (u < __builtin_inff())) ? (x - (u - 1.0f)) / u : Vec{};
  return Abs(x) < 1.0e-4f ? x - 0.5f * x * x : Log(u) + lost;
}
)";

constexpr std::string_view kInverse = R"(
// 1 / x of what is at least 1, at most 1 ulp. A Newton step behind an estimate of 14 bits takes a
// third of the time that a division of 16 lanes does.
[[maybe_unused]] static inline Vec Inverse(Vec x) {
#if defined(__AVX512F__)
  const Vec estimate = (Vec)_mm512_rcp14_ps((__m512)x);
  const Vec better = estimate + estimate * (1.0f - x * estimate);
  return x < __builtin_inff() ? better : estimate;  // 0, NaN
#else
  return 1.0f / x;
#endif
}
)";

constexpr std::string_view kTanh = R"(
// tanh, at most 2 ulp: a polynomial below 0.65, else 1 - 2 / (e^2x + 1).
[[maybe_unused]] static inline Vec Tanh(Vec x) {
  const Vec size = Abs(x);
  const Vec s = x * x;
  Vec p = Broadcast(0.00206466205f);
  p = p * s - 0.00809196476f;
  p = p * s + 0.0216663443f;
  p = p * s - 0.0539405644f;
  p = p * s + 0.133331582f;
  p = p * s - 0.333333284f;
  const Vec small = p * (s * x) + x;
  const Vec large = 1.0f - 2.0f * Inverse(ExpNormal(Min(Broadcast(20.0f), size + size)) + 1.0f);
  const Vec signed_large = FromBits(Bits(large) | (Bits(x) & static_cast<std::int32_t>(0x80000000)));
  return size < 0.65f ? small : signed_large;
}
)";

constexpr std::string_view kSigmoid = R"(
// 1 / (1 + e^-x), at most 3 ulp down to the smallest normal number.
[[maybe_unused]] static inline Vec Sigmoid(Vec x) {
  return Inverse(1.0f + ExpNormal(-Max(Broadcast(-89.0f), Min(Broadcast(88.0f), x))));
}
)";

constexpr std::string_view kErf = R"(
// erf, at most 2 ulp: a polynomial below 1, else 1 - e^q(x), where q is log(erfc) on [1, 4].
[[maybe_unused]] static inline Vec Erf(Vec x) {
  const Vec s = x * x;
  Vec p = Broadcast(7.8891193e-05f);
  p = p * s - 0.000802084105f;
  p = p * s + 0.00518953521f;
  p = p * s - 0.0268544443f;
  p = p * s + 0.112836003f;
  p = p * s - 0.37612626f;
  p = p * s + 0.128379107f;
  const Vec small = p * x + x;
  const Vec size = Min(Broadcast(4.0f), Abs(x));
  Vec q = Broadcast(0.0001855749f);
  q = q * size - 0.00293961586f;
  q = q * size + 0.0218053516f;
  q = q * size - 0.103037439f;
  q = q * size - 0.638225615f;
  q = q * size - 1.12704003f;
  q = q * size - 0.000353708921f;
  const Vec large = 1.0f - ExpNormal(q);
  const Vec signed_large = FromBits(Bits(large) | (Bits(x) & static_cast<std::int32_t>(0x80000000)));
  return Abs(x) < 1.0f ? small : signed_large;
}
)";

constexpr std::string_view kNormalCdf = R"(
// The share of a normal distribution below x, off by at most 4e-7, from 0 on by 9 ulp: p is a fit of
// the share above |x| to the power -1/8, so that nothing large need be computed for tails.
[[maybe_unused]] static inline Vec NormalCdf(Vec x) {
  const Vec size = Abs(x);
  Vec p = Broadcast(2.63991274e-06f);
  p = p * size - 1.17033696e-05f;
  p = p * size + 7.56649169e-05f;
  p = p * size + 0.000195225002f;
  p = p * size + 0.000972700305f;
  p = p * size + 0.00943732727f;
  p = p * size + 0.0488192551f;
  p = p * size + 0.108761922f;
  p = p * size + 1.09050775f;
  p *= p;
  p *= p;
  const Vec above = Inverse(p * p);
  return Bits(x) < 0 ? above : 1.0f - above;
}
)";

}  // namespace

const std::vector<Piece>& MathPieces() {
  constexpr VectorPiece kCorePiece = VectorPiece::kCore;
  constexpr VectorPiece kNormal("ExpNormal");
  constexpr VectorPiece kInversePiece("Inverse");
  static const std::vector<Piece> kPieces{
      {VectorPiece("Sqrt"), kSqrt, {kCorePiece}},
      {VectorPiece("Round"), kRound, {kCorePiece}},
      {kNormal, kExpNormal, {kCorePiece}},
      {VectorPiece("Exp"), kExp, {kNormal}},
      {VectorPiece("ExpNegative"), kExpNegative, {kNormal}},
      {VectorPiece("ExpMinus1"), kExpMinus1, {kNormal}},
      {VectorPiece("Log"), kLog, {kCorePiece}},
      {VectorPiece("Log1p"), kLog1p, {VectorPiece("Log")}},
      {kInversePiece, kInverse, {kCorePiece}},
      {VectorPiece("Tanh"), kTanh, {kNormal, kInversePiece}},
      {VectorPiece("Sigmoid"), kSigmoid, {kNormal, kInversePiece}},
      {VectorPiece("Erf"), kErf, {kNormal}},
      {VectorPiece("NormalCdf"), kNormalCdf, {kInversePiece}},
  };
  return kPieces;
}

}  // namespace pragma::expert::vector_text
