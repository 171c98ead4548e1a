// The code templates for packing. They precede every kernel that packs.
#include <string_view>

#include "expert/cpp/anchor_kernel.h"

namespace pragma::expert {
namespace {

constexpr std::string_view kPacking = R"(
// ---- Packing: panels of a matrix in the order in which the innermost loop reads them.
// a0 b0 a1 b1 ... from the lower, or the upper, halves of a and b.
#if PRAGMA_LANES == 16
[[maybe_unused]] static inline Vec InterleaveLow(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
[[maybe_unused]] static inline Vec InterleaveHigh(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#elif PRAGMA_LANES == 8
[[maybe_unused]] static inline Vec InterleaveLow(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
[[maybe_unused]] static inline Vec InterleaveHigh(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#else
[[maybe_unused]] static inline Vec InterleaveLow(Vec a, Vec b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
[[maybe_unused]] static inline Vec InterleaveHigh(Vec a, Vec b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

// A square of kLanes x kLanes, transposed in registers: interleaving row i with row i + kLanes / 2
// turns the bits of an element's address round by one place.
[[maybe_unused]] static inline void Transpose(Vec (&square)[kLanes]) {
#pragma GCC unroll 4
  for (std::int64_t turn = 1; turn < kLanes; turn *= 2) {
    Vec turned[kLanes];
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < kLanes / 2; ++i) {
      turned[2 * i] = InterleaveLow(square[i], square[i + kLanes / 2]);
      turned[2 * i + 1] = InterleaveHigh(square[i], square[i + kLanes / 2]);
    }
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < kLanes; ++i) square[i] = turned[i];
  }
}

// to[k * kWidth + i] = from[i * across + k * along] for i < count and k < depth, 0 for the other i.
// May write kLanes - 1 numbers more than kWidth * depth when kWidth is no multiple of kLanes.
template <std::int64_t kWidth>
[[maybe_unused]] static inline void PackPanel(const float* from, std::int64_t across, std::int64_t along,
                                              std::int64_t count, std::int64_t depth, float* to) {
  constexpr std::int64_t kLastGroup = (kWidth - 1) / kLanes * kLanes;
  if (across == 1) {
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t i = 0; i < kWidth; i += kLanes) {
        const std::int64_t there = std::min({count - i, kWidth - i, kLanes});
        const float* line = from + k * along + i;
        Store(to + k * kWidth + i,
              there == kLanes ? Load(line) : LoadPart(line, std::max<std::int64_t>(there, 0)));
      }
    }
  } else if (along == 1) {
    for (std::int64_t k = 0; k < depth; k += kLanes) {
      const std::int64_t steps = std::min(kLanes, depth - k);
      // The last group first: what it writes too much, the others write again.
      for (std::int64_t group = kLastGroup; group >= 0; group -= kLanes) {
        Vec square[kLanes];
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < kLanes; ++i) {
          const float* line = from + (group + i) * across + k;
          if (group + i >= std::min(kWidth, count)) {
            square[i] = Vec{};
          } else {
            square[i] = steps == kLanes ? Load(line) : LoadPart(line, steps);
          }
        }
        Transpose(square);
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < kLanes; ++i)
          if (i < steps) Store(to + (k + i) * kWidth + group, square[i]);
      }
    }
  } else {
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t i = 0; i < kWidth; ++i)
        to[k * kWidth + i] = i < count ? from[i * across + k * along] : 0.0f;
  }
}
)";

}  // namespace

std::string_view PackingText() { return kPacking; }

}  // namespace pragma::expert
