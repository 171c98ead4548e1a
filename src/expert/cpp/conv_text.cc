#include "expert/cpp/conv_text.h"

#include <string_view>

namespace pragma::expert::conv_text {

const std::string_view kTile = R"(
// kTall output channels by kWide vectors of neighbouring pixels; every sum stays in a register.
// Of a kPart tile only the first `left` pixels exist.
template <std::int64_t kTall, std::int64_t kWide, bool kPart>
__attribute__((noinline)) static void Tile(const float* in, const float* weights@phase_parameters@, [[maybe_unused]] std::int64_t left@results@) {
  Vec sum[kTall][kWide] = {};
  for (std::int64_t c = 0; c < kIn; ++c) {
    for (std::int64_t t = 0; t < @taps@; ++t, weights += kTileRows) {
      const float* line = in + c * kChannelPitch + @offset@[t];
      Vec pixels[kWide];
#pragma GCC unroll 8
      for (std::int64_t j = 0; j < kWide; ++j)
        pixels[j] = @load@;
#pragma GCC unroll 32
      for (std::int64_t i = 0; i < kTall; ++i) {
        const Vec factor = Broadcast(weights[i]);
#pragma GCC unroll 8
        for (std::int64_t j = 0; j < kWide; ++j)
          sum[i][j] = Fma(factor, pixels[j], sum[i][j]);
      }
    }
  }
)";

const std::string_view kToOutput = R"(
#pragma GCC unroll 32
  for (std::int64_t i = 0; i < kTall; ++i) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kWide; ++j) {
      if (kPart && j + 1 == kWide) {
        FinishPart(sum[i][j]@arguments@, image, channel + i, pixel + j * kLanes, left - j * kLanes);
      } else {
        Finish(sum[i][j]@arguments@, image, channel + i, pixel + j * kLanes);
      }
    }
  }
}
)";

const std::string_view kToBuffer = R"(
#pragma GCC unroll 32
  for (std::int64_t i = 0; i < kTall; ++i) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kWide; ++j) Store(results + i * pitch + j * kLanes, sum[i][j]);
  }
}
)";

const std::string_view kTiles = R"(
// The tile that fits what is left of a run, whose length differs from band to band.
template <std::int64_t kTall, std::int64_t kWide = kTileVectors>
static inline void TileOfHeight(const float* in, const float* weights@phase_parameters@, std::int64_t left@results@) {
  if (left >= kWide * kLanes) {
    Tile<kTall, kWide, false>(in, weights@phase@, left@pass@);
  } else if (left > (kWide - 1) * kLanes) {
    Tile<kTall, kWide, true>(in, weights@phase@, left@pass@);
  } else if constexpr (kWide > 1) {
    TileOfHeight<kTall, kWide - 1>(in, weights@phase@, left@pass@);
  }
}
)";

const std::string_view kEvenTiles = R"(
// The tile that fits what is left of a run: a whole one, or what all runs end with.
template <std::int64_t kTall>
static inline void TileOfHeight(const float* in, const float* weights@phase_parameters@, std::int64_t left@results@) {
  constexpr std::int64_t kRest = kRun % (kTileVectors * kLanes);
  if (kRest == 0 || left >= kTileVectors * kLanes) {
    Tile<kTall, kTileVectors, false>(in, weights@phase@, left@pass@);
  } else if constexpr (kRest > 0) {
    Tile<kTall, (kRest + kLanes - 1) / kLanes, kRest % kLanes != 0>(in, weights@phase@, left@pass@);
  }
}
)";

const std::string_view kTileOf = R"(
static inline void TileOf(std::int64_t block, const float* in, const float* weights@phase_parameters@, std::int64_t left@results@) {
  if ((block + 1) * kTileRows <= kOut) {
    TileOfHeight<kTileRows>(in, weights@phase@, left@pass@);
  } else if constexpr (kOut % kTileRows != 0) {
    TileOfHeight<kOut % kTileRows>(in, weights@phase@, left@pass@);
  }
}
)";

const std::string_view kInterleave = R"(
// Sums of the @stride@ phases along x, in turn.
static inline void Interleave(const float* results, float* line) {
  for (std::int64_t step = 0; step < @steps@; ++step)
    for (std::int64_t phase = 0; phase < @stride@; ++phase)
      line[step * @stride@ + phase] = results[phase * kTileRows * kRunPitch + step];
}
)";

const std::string_view kInterleaveTwo = R"(
// Sums of the two phases along x, in turn.
static inline void Interleave(const float* results, float* line) {
  for (std::int64_t step = 0; step < @steps@; step += kLanes) {
    const Vec even = Load(results + step), odd = Load(results + kTileRows * kRunPitch + step);
    Store(line + 2 * step, InterleaveLow(even, odd));
    Store(line + 2 * step + kLanes, InterleaveHigh(even, odd));
  }
}
)";

const std::string_view kCompact = R"(
// Rows of sums, without what lies between them.
static inline void Compact(const float* results, std::int64_t rows, float* line) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t x = 0; x < @width@; x += kLanes)  // the next row mends what is too much
      Store(line + row * @width@ + x, Load(results + row * @pitch@ + x));
}
)";

const std::string_view kWriteRow = R"(
// `length` results that are neighbours in the output.
static inline void WriteRow(const float* line@parameters@, std::int64_t image, std::int64_t channel, std::int64_t pixel, std::int64_t length) {
@head@  for (; x + kLanes <= length; x += kLanes)
    Finish(Load(line + x)@arguments@, image, channel, pixel + x);
  if (x < length) FinishPart(LoadPart(line + x, length - x)@arguments@, image, channel, pixel + x, length - x);
}
)";

const std::string_view kPlainHead = "  std::int64_t x = 0;\n";

const std::string_view kAlignedHead =
    R"(  // Up to the first whole vector of the output's memory; whole ones go past the caches.
  const std::int64_t place = (image * kGroups * kOut + channel) * kPixels + pixel;
  std::int64_t x = std::min(length, -place & (kLanes - 1));
  if (x > 0) FinishPart(LoadPart(line, x)@arguments@, image, channel, pixel, x);
)";

}  // namespace pragma::expert::conv_text
