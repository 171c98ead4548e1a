// Code templates for loops over vectors and for access that is not contiguous.
#include <string_view>

#include "expert/cpp/vector_text.h"

namespace pragma::expert::vector_text {

const std::string_view kLoops = R"(
// Loops over vectors. A body is told how many lanes count: AllLanes, which costs nothing, or a
// number below kLanes for what is left over.
#define INLINE __attribute__((always_inline))
[[maybe_unused]] constexpr std::int64_t kLine = 16;  // floats of a line of the caches
[[maybe_unused]] constexpr std::int64_t kLineParts = kLine / kLanes;
struct AllLanes {
  constexpr operator std::int64_t() const { return kLanes; }
};
[[maybe_unused]] static inline Vec LoadLanes(const float* p, AllLanes) { return Load(p); }
[[maybe_unused]] static inline Vec LoadLanes(const float* p, std::int64_t n) { return LoadPart(p, n); }
[[maybe_unused]] static inline void StoreLanes(float* p, Vec v, AllLanes) { Store(p, v); }
[[maybe_unused]] static inline void StoreLanes(float* p, Vec v, std::int64_t n) { StorePart(p, v, n); }
[[maybe_unused]] static inline Ints LaneNumbers() {
  Ints number{};
  for (std::int32_t i = 0; i < PRAGMA_LANES; ++i) number[i] = i;
  return number;
}
[[maybe_unused]] static inline Vec KeepLanes(Vec v, AllLanes, float) { return v; }
[[maybe_unused]] static inline Vec KeepLanes(Vec v, std::int64_t n, float rest) {
  return Select(LaneNumbers() < static_cast<std::int32_t>(n), v, Broadcast(rest));
}
template <int N>
struct Count {
  static constexpr int value = N;
};
// body(x, u, lanes) for x from `from` to `to`; u names the accumulators of N independent chains.
template <int N, class Body>
static inline INLINE void ForLanes(std::int64_t from, std::int64_t to, const Body& body) {
  std::int64_t x = from;
  for (; x + N * kLanes <= to; x += N * kLanes)
#pragma GCC unroll 8
    for (int u = 0; u < N; ++u) body(x + u * kLanes, u, AllLanes{});
  for (; x + kLanes <= to; x += kLanes) body(x, 0, AllLanes{});
  if (x < to) body(x, 0, to - x);
}
// body(x, vectors, lanes): N vectors at once, or one at a time where fewer are left.
template <int N, class Body>
static inline INLINE void ForColumns(std::int64_t x, std::int64_t size, const Body& body) {
  if (x + N * kLanes <= size) return body(x, Count<N>{}, AllLanes{});
  for (; x + kLanes <= size; x += kLanes) body(x, Count<1>{}, AllLanes{});
  if (x < size) body(x, Count<1>{}, size - x);
}
template <std::size_t N, class Combine>
static inline Vec Together(const Vec (&v)[N], Combine combine) {
  Vec all = v[0];
  for (std::size_t i = 1; i < N; ++i) all = combine(all, v[i]);
  return all;
}
)";

const std::string_view kStrided = R"(
// Lanes [first, end) of the Vec at p, zeros in the others; nothing else is read.
#if defined(__AVX512F__)
static inline std::uint32_t FirstBits(std::int64_t n) {
  return n <= 0 ? 0 : n >= kLanes ? 0xffffu : (1u << n) - 1;
}
static inline Vec LoadBetween(const float* p, std::int64_t first, std::int64_t end) {
  const auto mask = static_cast<__mmask16>(FirstBits(end) & ~FirstBits(first));
  return (Vec)_mm512_maskz_loadu_ps(mask, p);
}
#elif defined(__AVX2__)
static inline Vec LoadBetween(const float* p, std::int64_t first, std::int64_t end) {
  const Ints number = LaneNumbers();
  const Ints mask = (number >= static_cast<std::int32_t>(first)) & (number < static_cast<std::int32_t>(end));
  return (Vec)_mm256_maskload_ps(p, (__m256i)mask);
}
#else
static inline Vec LoadBetween(const float* p, std::int64_t first, std::int64_t end) {
  Vec v{};
  for (std::int64_t i = first < 0 ? 0 : first; i < end && i < kLanes; ++i) v[i] = p[i];
  return v;
}
#endif
// Lanes [first, end) of every S-th element from p on: S loads and S - 1 shuffles.
template <int S, int J, int... I>
static inline Vec EveryFrom(Vec v, const float* p, std::int64_t first, std::int64_t end,
                            std::integer_sequence<int, I...> lanes) {
  constexpr int L = PRAGMA_LANES;
  if constexpr (J == S) {
    return v;
  } else {
    // The last load ends with the last element that is wanted.
    constexpr int kStart = J + 1 < S ? J * L : (L - 1) * (S - 1);
    const Vec next = first == 0 && end == kLanes
                         ? Load(p + kStart)
                         : LoadBetween(p + kStart, first * S - kStart, (end - 1) * S + 1 - kStart);
    if constexpr (J > 0) {
      constexpr auto kFrom = [](int i) {
        if (i * S >= J * L && (J + 1 == S || i * S < (J + 1) * L)) return L + i * S - kStart;
        return J > 1 ? i : i * S < L ? i * S : 0;
      };
      return EveryFrom<S, J + 1>(__builtin_shufflevector(v, next, kFrom(I)...), p, first, end, lanes);
    } else {
      return EveryFrom<S, J + 1>(next, p, first, end, lanes);
    }
  }
}
template <int S>
static inline Vec LoadEvery(const float* p, std::int64_t first, std::int64_t end) {
  return EveryFrom<S, 0>(Vec{}, p, first, end, std::make_integer_sequence<int, PRAGMA_LANES>{});
}
static inline Vec LoadEvery(const float* p, std::int64_t stride, std::int64_t first, std::int64_t end) {
  if (stride == 1) return LoadEvery<1>(p, first, end);
  if (stride == 2) return LoadEvery<2>(p, first, end);
  return stride == 3 ? LoadEvery<3>(p, first, end) : LoadEvery<4>(p, first, end);
}
#if PRAGMA_LANES == 16
#define PRAGMA_REVERSED 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
#elif PRAGMA_LANES == 8
#define PRAGMA_REVERSED 7, 6, 5, 4, 3, 2, 1, 0
#else
#define PRAGMA_REVERSED 3, 2, 1, 0
#endif
// Lane i at p + i * stride; lanes from n on are zero, and are not stored.
[[maybe_unused]] static inline Vec LoadStrided(const float* p, std::int64_t stride,
                                               std::int64_t n) {
  if (n == kLanes && stride == -1) {
    const Vec v = Load(p - (kLanes - 1));
    return __builtin_shufflevector(v, v, PRAGMA_REVERSED);
  }
  if (stride >= 1 && stride <= 4) return LoadEvery(p, stride, 0, n);
  Vec v{};
  for (std::int64_t i = 0; i < n; ++i) v[i] = p[i * stride];
  return v;
}
[[maybe_unused]] static inline void StoreStrided(float* p, std::int64_t stride, Vec v,
                                                 std::int64_t n) {
  if (n == kLanes && stride == -1)
    return Store(p - (kLanes - 1), __builtin_shufflevector(v, v, PRAGMA_REVERSED));
  for (std::int64_t i = 0; i < n; ++i) p[i * stride] = v[i];
}
// Lanes whose index at + i * step lies outside [0, limit) are not read.
[[maybe_unused]] static inline Vec LoadInside(const float* p, std::int64_t stride, std::int64_t at,
                                              std::int64_t step, std::int64_t limit, float outside,
                                              std::int64_t n) {
  const std::int64_t last = at + (kLanes - 1) * step;
  if (n == kLanes && at >= 0 && at < limit && last >= 0 && last < limit)
    return stride == 1 ? Load(p) : LoadStrided(p, stride, n);
  if (step > 0 && stride >= 1 && stride <= 4) {
    const std::int64_t first = at >= 0 ? 0 : (step - 1 - at) / step;
    const std::int64_t inside = at >= limit ? 0 : (limit - 1 - at) / step + 1;
    const std::int64_t end = inside < n ? inside : n;
    const Ints number = LaneNumbers();
    const Ints mask = (number >= static_cast<std::int32_t>(first)) & (number < static_cast<std::int32_t>(end));
    return Select(mask, LoadEvery(p, stride, first, end), Broadcast(outside));
  }
  Vec v = Broadcast(outside);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t index = at + i * step;
    if (index >= 0 && index < limit) v[i] = p[i * stride];
  }
  return v;
}
// For functions that have no vector form here.
template <class Function>
static inline Vec EachLane(Vec v, Function function) {
  for (std::int64_t i = 0; i < kLanes; ++i) v[i] = function(v[i]);
  return v;
}
template <class Function>
static inline Vec EachLane(Vec v, Vec w, Function function) {
  for (std::int64_t i = 0; i < kLanes; ++i) v[i] = function(v[i], w[i]);
  return v;
}
)";

const std::string_view kRows = R"(
// The elements of a row in front of `from` and from `to` on.
[[maybe_unused]] static inline void FillOutside(float* row, std::int64_t from, std::int64_t to,
                                                std::int64_t span, float value) {
  for (std::int64_t i = 0; i < from && i < span; ++i) row[i] = value;
  for (std::int64_t i = to < 0 ? 0 : to; i < span; ++i) row[i] = value;
}
)";

const std::string_view kWide = R"(
// ForColumns where many vectors are left over: by ever fewer at once.
template <int N, class Body>
static inline INLINE void ForWideColumns(std::int64_t x, std::int64_t size, const Body& body) {
  if (x + N * kLanes <= size) return body(x, Count<N>{}, AllLanes{});
  if constexpr (N > 4) {
    for (; x + N / 4 * kLanes <= size; x += N / 4 * kLanes)
      body(x, Count<N / 4>{}, AllLanes{});
    if (x < size) ForWideColumns<N / 4>(x, size, body);
  } else {
    ForColumns<N>(x, size, body);
  }
}
)";

const std::string_view kTurn = R"(
// v[i] gets lane i of each vector: halves change places, then quarters ...
template <int H, int... I>
static inline INLINE void Exchange(Vec& a, Vec& b, std::integer_sequence<int, I...>) {
  const Vec low = __builtin_shufflevector(a, b, ((I & H) == 0 ? I : PRAGMA_LANES + I - H)...);
  b = __builtin_shufflevector(a, b, ((I & H) == 0 ? I + H : PRAGMA_LANES + I)...);
  a = low;
}
template <int H = 1>
static inline INLINE void Turn(Vec (&v)[kLanes]) {
  if constexpr (H < kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < PRAGMA_LANES; ++i)
      if ((i & H) == 0) Exchange<H>(v[i], v[i + H], std::make_integer_sequence<int, PRAGMA_LANES>{});
    Turn<2 * H>(v);
  }
}
// A square of a cache line's floats each way, so that lines are read and written whole: v[part][i]
// gets column i of the rows from part * lanes on. The rows to come are asked for.
static inline INLINE void LoadTurned(const float* p, std::int64_t stride, Vec (&v)[kLineParts][kLine]) {
#pragma GCC unroll 4
  for (int part = 0; part < kLineParts; ++part) {
#pragma GCC unroll 4
    for (int side = 0; side < kLineParts; ++side) {
      const float* rows = p + side * kLanes + part * kLanes * stride;
      for (int i = 0; i < PRAGMA_LANES; ++i) __builtin_prefetch(rows + (kLanes + i) * stride, 0, 2);
      Vec square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < PRAGMA_LANES; ++i) square[i] = Load(rows + i * stride);
      Turn(square);
#pragma GCC unroll 16
      for (int i = 0; i < PRAGMA_LANES; ++i) v[part][side * kLanes + i] = square[i];
    }
  }
}
)";

const std::string_view kAhead = R"(
// Into the second cache: what lies there will be read soon. p may lie behind what there is.
static inline void Ahead(const float* p) { __builtin_prefetch(p, 0, 2); }
)";

const std::string_view kMasks = R"(
// All bits of the lanes whose byte is not zero; lanes from n on are not read.
[[maybe_unused]] static inline Ints LoadMask(const bool* p, std::int64_t n) {
  typedef signed char Bytes __attribute__((vector_size(PRAGMA_LANES)));
  Bytes bytes{};
  if (n == kLanes) {
    __builtin_memcpy(&bytes, p, sizeof bytes);
  } else {
    for (std::int64_t i = 0; i < n; ++i) bytes[i] = p[i];
  }
  return __builtin_convertvector(bytes, Ints) != 0;
}
)";

const std::string_view kScans = R"(
// What stands k lanes to the left; `first` moves in.
template <int K, int... I>
static inline Vec LanesBefore(Vec v, float first, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, Broadcast(first), (I < K ? PRAGMA_LANES + I : I - K)...);
}
// Each lane together with all lanes before it, in log2 of their number of steps.
template <int K = 1, class Combine>
static inline Vec ScanLanes(Vec v, float identity, Combine combine) {
  if constexpr (K < PRAGMA_LANES) {
    const Vec before = LanesBefore<K>(v, identity, std::make_integer_sequence<int, PRAGMA_LANES>{});
    return ScanLanes<2 * K>(combine(before, v), identity, combine);
  } else {
    return v;
  }
}
)";

const std::string_view kPositions = R"(
// The best so far and where it stands; of equals the first, and a NaN is better than any number.
static inline void KeepBetter(Ints better, Vec next, Ints at, std::int64_t n, Vec& best, Ints& best_at) {
  better |= (best_at < 0) | ((next != next) & (best == best));
  if (n != kLanes) better &= LaneNumbers() < static_cast<std::int32_t>(n);
  best = better ? next : best;
  best_at = better ? at : best_at;
}
[[maybe_unused]] static inline void KeepLargest(Vec next, Ints at, std::int64_t n, Vec& best, Ints& best_at) {
  KeepBetter(next > best, next, at, n, best, best_at);
}
[[maybe_unused]] static inline void KeepSmallest(Vec next, Ints at, std::int64_t n, Vec& best, Ints& best_at) {
  KeepBetter(next < best, next, at, n, best, best_at);
}
// Of all lanes of all vectors; lanes that saw nothing have a negative place.
template <std::size_t N>
static inline std::int64_t FirstBest(const Vec (&best)[N], const Ints (&at)[N], bool largest) {
  float value = 0;
  std::int64_t place = -1;
  for (std::size_t i = 0; i < N; ++i)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const float next = best[i][lane];
      const std::int64_t next_at = at[i][lane];
      if (next_at < 0) continue;
      const bool better = (largest ? next > value : next < value) || (next != next && value == value);
      const bool same = next == value || (next != next && value != value);
      if (place >= 0 && !better && !(same && next_at < place)) continue;
      value = next;
      place = next_at;
    }
  return place;
}
[[maybe_unused]] static inline void StoreIntegers(std::int64_t* p, std::int64_t stride, Ints v,
                                                  std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) p[i * stride] = v[i];
}
)";

const std::string_view kStreamLanes = R"(
[[maybe_unused]] static inline void StreamLanes(float* p, Vec v, AllLanes) { Stream(p, v); }
[[maybe_unused]] static inline void StreamLanes(float* p, Vec v, std::int64_t n) { StorePart(p, v, n); }
)";

const std::string_view kLimits = R"(
// The r from which on, and up to which, start + r * step lies in [0, limit).
[[maybe_unused]] static inline std::int64_t FirstInside(std::int64_t start, std::int64_t step,
                                                        std::int64_t limit) {
  if (step < 0) return start < limit ? 0 : (start - limit) / -step + 1;
  return start >= 0 ? 0 : (step - 1 - start) / step;
}
[[maybe_unused]] static inline std::int64_t EndInside(std::int64_t start, std::int64_t step,
                                                      std::int64_t limit, std::int64_t count) {
  std::int64_t end = 0;
  if (step < 0) {
    end = start < 0 ? 0 : start / -step + 1;
  } else {
    end = start >= limit ? 0 : (limit - 1 - start) / step + 1;
  }
  return end < count ? end : count;
}
)";

}  // namespace pragma::expert::vector_text
