#include "expert/cpp/attention_text.h"

#include <string_view>

namespace pragma::expert::attention_text {

const std::string_view kFinish = R"(
// A vector of results on its way to memory.
static inline void Finish(Vec value, float* out@extra@, std::int64_t batch, std::int64_t row,
                          std::int64_t column) {
  const std::int64_t index = batch * @out_batch@ + row * @out_row@ + column;
@epilogue_whole@  Store(out + index, value);
}
// The same where fewer than kLanes columns are left.
[[maybe_unused]] static inline void FinishPart(Vec value, float* out@extra@, std::int64_t batch,
                                        std::int64_t row, std::int64_t column, std::int64_t lanes) {
  const std::int64_t index = batch * @out_batch@ + row * @out_row@ + column;
@epilogue_part@  StorePart(out + index, value, lanes);
}
)";

const std::string_view kTiles = R"(
// Products of kTall queries with a panel of keys: every sum stays in a register.
template <std::int64_t kTall>
__attribute__((noinline)) static void Scores(const float* query, const float* panel, float* scores) {
  Vec sum[kTall][kTileVectors] = {};
  for (std::int64_t k = 0; k < kDepth; ++k) {
    Vec line[kTileVectors];
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kTileVectors; ++j)
      line[j] = LoadHeld(panel + k * kTileColumns + j * kLanes);
#pragma GCC unroll 32
    for (std::int64_t i = 0; i < kTall; ++i) {
      const Vec factor = Broadcast(query[i * @query_row@ + k * @query_depth@]);
#pragma GCC unroll 8
      for (std::int64_t j = 0; j < kTileVectors; ++j) sum[i][j] = Fma(factor, line[j], sum[i][j]);
    }
  }
#pragma GCC unroll 32
  for (std::int64_t i = 0; i < kTall; ++i) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kTileVectors; ++j)
      Store(scores + i * kScorePitch + j * kLanes, sum[i][j]);
  }
}

// sums = shrink * sums + weights * a panel of values, for kTall queries.
template <std::int64_t kTall>
__attribute__((noinline)) static void Accumulate(const float* weights, const float* panel,
                                                 std::int64_t keys, const float* shrink, float* sums) {
  Vec sum[kTall][kTileVectors];
#pragma GCC unroll 32
  for (std::int64_t i = 0; i < kTall; ++i) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kTileVectors; ++j)
      sum[i][j] = shrink[i] * Load(sums + i * kSumPitch + j * kLanes);
  }
  for (std::int64_t k = 0; k < keys; ++k) {
    Vec line[kTileVectors];
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kTileVectors; ++j)
      line[j] = LoadHeld(panel + k * kTileColumns + j * kLanes);
#pragma GCC unroll 32
    for (std::int64_t i = 0; i < kTall; ++i) {
      const Vec factor = Broadcast(weights[i * kScorePitch + k]);
#pragma GCC unroll 8
      for (std::int64_t j = 0; j < kTileVectors; ++j) sum[i][j] = Fma(factor, line[j], sum[i][j]);
    }
  }
#pragma GCC unroll 32
  for (std::int64_t i = 0; i < kTall; ++i) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kTileVectors; ++j)
      Store(sums + i * kSumPitch + j * kLanes, sum[i][j]);
  }
}
)";

const std::string_view kWeigh = R"(
// What a row knows of the keys before: its largest score, and the sum of its weights.
struct Row {
  float largest;
  float total;
};
// A score from a vector of products.
static inline Vec Score(Vec value@extra@, [[maybe_unused]] std::int64_t batch, [[maybe_unused]] std::int64_t row,
                        [[maybe_unused]] std::int64_t column) {
@score@  return value;
}
// The same where fewer than kLanes keys are left.
[[maybe_unused]] static inline Vec ScorePart(Vec value@extra@, [[maybe_unused]] std::int64_t batch,
                                      [[maybe_unused]] std::int64_t row, [[maybe_unused]] std::int64_t column,
                                      [[maybe_unused]] std::int64_t lanes) {
@score_part@  return KeepLanes(value, lanes, -__builtin_inff());
}
// A row of products becomes weights, relative to the largest score so far; how much smaller that
// makes what was summed before.
static float Weigh(float* scores, Row& known@extra@, std::int64_t batch, std::int64_t row, std::int64_t key0,
                   std::int64_t keys) {
  Vec top = Broadcast(known.largest);
  std::int64_t k = 0;
  for (; k + kLanes <= keys; k += kLanes) {
    const Vec score = Score(Load(scores + k)@arguments@, batch, row, key0 + k);
    Store(scores + k, score);
    top = KeepMax(top, score);
  }
  if (k < keys) {
    const Vec score = ScorePart(Load(scores + k)@arguments@, batch, row, key0 + k, keys - k);
    Store(scores + k, score);
    top = KeepMax(top, score);
  }
  const float largest = MaxLanes(top);
  const float base = largest == -__builtin_inff() ? 0.0f : largest;
  const float shrink = ExpNegative(Broadcast(known.largest - base))[0];
  Vec sum = {};
  for (k = 0; k < keys; k += kLanes) {
    const Vec weight = ExpNegative(Load(scores + k) - base);
    Store(scores + k, weight);
    sum += weight;
  }
  known.total = known.total * shrink + SumLanes(sum);
  known.largest = largest;
  return shrink;
}
)";

const std::string_view kDriver = R"(
// One block of keys for kTall queries.
template <std::int64_t kTall>
static void Step(const float* query, const float* keys, const float* values, float* scores, Row* known,
                 float* sums@extra@, std::int64_t batch, std::int64_t row, std::int64_t key0, std::int64_t count) {
  for (std::int64_t k = 0; k < count; k += kTileColumns)
    Scores<kTall>(query + row * @query_row@, keys + k * kDepth, scores + k);
  float shrink[kTall];
  for (std::int64_t i = 0; i < kTall; ++i)
    shrink[i] = Weigh(scores + i * kScorePitch, known[i]@arguments@, batch, row + i, key0, count);
  for (std::int64_t column = 0; column < kColumns; column += kTileColumns)
    Accumulate<kTall>(scores, values + column * kKeyBlock, count, shrink, sums + column);
}

// All keys for a block of queries of one of the batch.
static void Queries(const float* query, const float* key, const float* value, float* out@extra@, float* own,
                    std::int64_t batch, std::int64_t row0, std::int64_t rows) {
  float* keys = own;
  float* values = keys + kKeyRoom;
  float* scores = values + kValueRoom;
  float* sums = scores + kScoreRoom;
  Row* known = reinterpret_cast<Row*>(sums + kSumRoom);
  std::fill_n(sums, rows * kSumPitch, 0.0f);
  std::fill_n(known, rows, Row{-__builtin_inff(), 0.0f});
  for (std::int64_t key0 = 0; key0 < kKeys; key0 += kKeyBlock) {
@beyond@    const std::int64_t count = std::min(kKeyBlock, kKeys - key0);
    for (std::int64_t k = 0; k < count; k += kTileColumns)
      PackPanel<kTileColumns>(key + (key0 + k) * @key_row@, @key_row@, @key_depth@, count - k, kDepth,
                              keys + k * kDepth);
    for (std::int64_t column = 0; column < kColumns; column += kTileColumns)
      PackPanel<kTileColumns>(value + key0 * @value_row@ + column * @value_column@, @value_column@,
                              @value_row@, kColumns - column, count, values + column * kKeyBlock);
    for (std::int64_t row = 0; row < rows; row += kTileRows) {
@skip@      if (rows - row >= kTileRows) {
        Step<kTileRows>(query, keys, values, scores, known + row, sums + row * kSumPitch@arguments@, batch,
                        row0 + row, key0, count);
      } else if constexpr (kRows % kTileRows != 0) {
        Step<kRows % kTileRows>(query, keys, values, scores, known + row, sums + row * kSumPitch@arguments@,
                                batch, row0 + row, key0, count);
      }
    }
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const float inverse = @inverse@;
    const float* line = sums + row * kSumPitch;
    std::int64_t column = 0;
    for (; column + kLanes <= kColumns; column += kLanes)
      Finish(inverse * Load(line + column), out@arguments@, batch, row0 + row, column);
    if (column < kColumns)
      FinishPart(inverse * Load(line + column), out@arguments@, batch, row0 + row, column,
                 kColumns - column);
  }
}

static constexpr std::int64_t kOwn =
    (kKeyRoom + kValueRoom + kScoreRoom + kSumRoom + 2 * kQueryBlock + 15) / 16 * 16;
static constexpr std::size_t kScratchBytes = sizeof(float) * kThreads * kOwn;

static void Run(const float* query, const float* key, const float* value, float* out@extra@, char* scratch) {
@parallel@  {
    float* own = reinterpret_cast<float*>(scratch) + @thread@ * kOwn;
@omp_for@    for (std::int64_t batch = 0; batch < kBatch; ++batch)
      for (std::int64_t row0 = 0; row0 < kRows; row0 += kQueryBlock)
        Queries(query + batch * @query_batch@, key + batch * @key_batch@, value + batch * @value_batch@,
                out@arguments@, own, batch, row0, std::min(kQueryBlock, kRows - row0));
  }
}
)";

}  // namespace pragma::expert::attention_text
