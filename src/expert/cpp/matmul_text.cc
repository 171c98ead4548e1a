#include "expert/cpp/matmul_text.h"

#include <string_view>

namespace pragma::expert::matmul_text {

const std::string_view kFinish = R"(
// A vector of results on its way to c@finish_note@.
[[maybe_unused]] static inline void Finish(Vec value, float* c@extra@, @batch@std::int64_t row, std::int64_t column@finish_flags@) {
  const std::int64_t index = @index@;
@add_whole@@epilogue_whole@  @store@(c + index, value);
}
// The same where fewer than kLanes columns are left.
[[maybe_unused]] static inline void FinishPart(Vec value, float* c@extra@, @batch@std::int64_t row,
                                        std::int64_t column, std::int64_t lanes@finish_flags@) {
  const std::int64_t index = @index@;
@add_part@@epilogue_part@  StorePart(c + index, value, lanes);
}
)";

const std::string_view kTile = R"(
// kTall rows of c by kTileColumns columns: every sum stays in a register over the whole depth.
template <std::int64_t kTall>
__attribute__((noinline)) static void Tile(const float* a, const float* b, float* c@extra@,
                                           std::int64_t depth, @batch@std::int64_t row,
                                           std::int64_t column@block_flags@@ahead_flag@) {
@prefetch@  Vec sum[kTall][kTileVectors] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
@fetch@    Vec line[kTileVectors];
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kTileVectors; ++j)
      line[j] = LoadHeld(b + k * kTileColumns + j * kLanes);
#pragma GCC unroll 32
    for (std::int64_t i = 0; i < kTall; ++i) {
      const Vec factor = Broadcast(a[k * kTileRows + i]);
#pragma GCC unroll 8
      for (std::int64_t j = 0; j < kTileVectors; ++j)
        sum[i][j] = Fma(factor, line[j], sum[i][j]);
    }
  }
@ending@}
)";

const std::string_view kWholeEnding = R"(  if (column + kTileColumns <= kColumns) {
#pragma GCC unroll 32
    for (std::int64_t i = 0; i < kTall; ++i) {
#pragma GCC unroll 8
      for (std::int64_t j = 0; j < kTileVectors; ++j)
        Finish(sum[i][j], c@arguments@, @of_batch@row + i, column + j * kLanes@block_arguments@);
    }
    return;
  }
)";

const std::string_view kEnding =
    R"(  float results[kTall][kTileColumns];  // so that @why@ stays a small loop
#pragma GCC unroll 32
  for (std::int64_t i = 0; i < kTall; ++i) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kTileVectors; ++j) Store(results[i] + j * kLanes, sum[i][j]);
  }
  const std::int64_t columns = std::min(kTileColumns, kColumns - column);
#pragma GCC unroll 1
  for (std::int64_t i = 0; i < kTall; ++i) {
    std::int64_t j = 0;
#pragma GCC unroll 1
    for (; j + kLanes <= columns; j += kLanes)
      Finish(Load(results[i] + j), c@arguments@, @of_batch@row + i, column + j@block_arguments@);
    if (j < columns)
      FinishPart(Load(results[i] + j), c@arguments@, @of_batch@row + i, column + j,
                 columns - j@block_arguments@);
  }
)";

const std::string_view kTriangle = R"(
// The @side@ triangle is what counts: @condition@.
static inline bool Outside(std::int64_t row, std::int64_t column,
                           [[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t columns) {
  return @outside@;
}
static inline Vec KeepTriangle(Vec value, std::int64_t row, std::int64_t column) {
  if (@all_inside@) return value;
  for (std::int64_t lane = 0; lane < kLanes; ++lane)
    if (!(@inside@)) value[lane] = 0.0f;
  return value;
}
)";

const std::string_view kMultiply = R"(
// Packed rows of a by packed columns of b, tile by tile.
static void Multiply(const float* a_panels, const float* b_panels, float* c@extra@,
                     @batch@std::int64_t row0, std::int64_t rows,
                     std::int64_t column0, std::int64_t columns, std::int64_t depth@block_flags@@next_flag@) {
  for (std::int64_t column = 0; column < columns; column += kTileColumns) {
    for (std::int64_t row = 0; row < rows; row += kTileRows) {
@skip@@ahead@      const float* a_panel = a_panels + @a_panel@@a_begin@;
      const float* b_panel = b_panels + column * kDepthBlock@b_begin@;
      if (rows - row >= kTileRows) {
        Tile<kTileRows>(a_panel, b_panel, c@arguments@, @steps@, @of_batch@row0 + row,
                        column0 + column@tile_flags@@ahead_argument@);
      } else if constexpr (kRows % kTileRows != 0) {
        Tile<kRows % kTileRows>(a_panel, b_panel, c@arguments@, @steps@, @of_batch@row0 + row,
                                column0 + column@tile_flags@@ahead_argument@);
      }
    }
  }
}
)";

const std::string_view kPackRows = R"(
static void PackRows(const float* a, std::int64_t rows, std::int64_t depth, float* panels) {
  for (std::int64_t row = 0; row < rows; row += kTileRows)
    PackPanel<kTileRows>(a + row * @a_row@, @a_row@, @a_depth@, rows - row, depth,
                         panels + @a_panel@);
}
)";

const std::string_view kSharedDriver = R"(
static constexpr std::int64_t kPackedA = (kRowBlock * kDepthBlock + 2 * kLanes) / kLanes * kLanes;
static constexpr std::int64_t kPackedB =
    (kColumnBlock + kTileColumns - 1) / kTileColumns * kTileColumns * kDepthBlock;
static constexpr std::size_t kScratchBytes = sizeof(float) * (kPackedB + kThreads * kPackedA);

// All threads pack a block of b, which they then share; each takes blocks of rows in turn.
static void Run(@operands@, float* c@extra@, char* scratch) {
  float* b_panels = reinterpret_cast<float*>(scratch);
#pragma omp parallel num_threads(kThreads)
  {
    float* a_panels = b_panels + kPackedB + omp_get_thread_num() * kPackedA;
@batch_loop@    for (std::int64_t column0 = 0; column0 < kColumns; column0 += kColumnBlock) {
      const std::int64_t columns = std::min(kColumnBlock, kColumns - column0);
@depth_loop@#pragma omp for schedule(static)
        for (std::int64_t column = 0; column < columns; column += kTileColumns)
          PackPanel<kTileColumns>(b + @b_offset@ + (column0 + column) * @b_column@, @b_column@,
                                  @b_depth@, columns - column, depth,
                                  b_panels + column * kDepthBlock);
#pragma omp for schedule(dynamic)
        for (std::int64_t row = 0; row < kRows; row += kRowBlock) {
          const std::int64_t rows = std::min(kRowBlock, kRows - row);
          PackRows(a + @a_offset@ + row * @a_row@, rows, depth, a_panels);
          Multiply(a_panels, b_panels, c@arguments@, @of_batch@row, rows, column0, columns,
                   depth@block_arguments@);
        }
      }
    }
@stream_end@  }
}
)";

const std::string_view kPanelDriver = R"(
static constexpr std::int64_t kPackedA = kRowTiles * kPanelA;
static constexpr std::int64_t kPackedB = kColumnBlock * kDepthBlock;
static constexpr std::int64_t kDepthBlocks = (kDepth + kDepthBlock - 1) / kDepthBlock;
static constexpr std::size_t kScratchBytes =
    sizeof(float) * (kDepthBlocks * kPackedA + kThreads * kPackedB);

// All threads pack a, which they then share. Each takes columns of b in turn, which it packs into
// its own cache and multiplies by all rows at once.
static void Run(@operands@, float* c@extra@, char* scratch) {
  float* packed = reinterpret_cast<float*>(scratch);
@parallel@  {
    float* b_panels = packed + kDepthBlocks * kPackedA + @thread@ * kPackedB;
@omp_for@    for (std::int64_t depth0 = 0; depth0 < kDepth; depth0 += kDepthBlock) {
      for (std::int64_t tile = 0; tile < kRowTiles; ++tile) {
        const std::int64_t row = tile * kTileRows;
        PackPanel<kTileRows>(a + row * @a_row@ + depth0 * @a_depth@, @a_row@, @a_depth@,
                             kRows - row, std::min<std::int64_t>(kDepthBlock, kDepth - depth0),
                             packed + depth0 / kDepthBlock * kPackedA + tile * kPanelA);
      }
    }
@depth_loop@      const float* a_panels = packed + @block_of_a@;
@omp_for_columns@      for (std::int64_t column0 = 0; column0 < kColumns; column0 += kColumnBlock) {
        const std::int64_t columns = std::min(kColumnBlock, kColumns - column0);
        for (std::int64_t column = 0; column < columns; column += kTileColumns)
          PackPanel<kTileColumns>(b + @b_offset@ + (column0 + column) * @b_column@, @b_column@,
                                  @b_depth@, columns - column, depth,
                                  b_panels + column * kDepthBlock);
        Multiply(a_panels, b_panels, c@arguments@, 0, kRows, column0, columns,
                 depth@block_arguments@@next@);
      }
    }
@stream_end@  }
}
)";

const std::string_view kFetch = R"(
// What is packed next: while a block of b is multiplied, the next one is fetched into the cache, a
// few lines every few steps.
struct Ahead {
  const float* next;  // null at the end
  std::int64_t part;  // the tile's number within the block
};
static constexpr std::int64_t kFetchSteps = 8;
static inline void Fetch(const Ahead& ahead, std::int64_t k) {
  constexpr std::int64_t kPerLine = 16;
  constexpr std::int64_t kLines = (@length@ + kPerLine - 1) / kPerLine;
  constexpr std::int64_t kParts = kRowTiles * (kColumnBlock / kTileColumns);
  constexpr std::int64_t kTimes = (kDepthBlock + kFetchSteps - 1) / kFetchSteps;  // in each part
  constexpr std::int64_t kAtOnce = (kLines * @count@ + kParts * kTimes - 1) / (kParts * kTimes);
  const std::int64_t first = (ahead.part * kTimes + k / kFetchSteps) * kAtOnce;
  for (std::int64_t line = first; line < first + kAtOnce; ++line)
    __builtin_prefetch(ahead.next + line / kLines * @pitch@ + line % kLines * kPerLine, 0, 2);
}
)";

const std::string_view kTaskDriver = R"(
static constexpr std::int64_t kPackedA = (kRowBlock * kDepthBlock + 2 * kLanes) / kLanes * kLanes;
static constexpr std::int64_t kPackedB =
    (kColumnBlock + kTileColumns - 1) / kTileColumns * kTileColumns * kDepthBlock;
static constexpr std::size_t kScratchBytes = sizeof(float) * kThreads * (kPackedA + kPackedB);

// @task_note@
static void Run(@operands@, float* c@extra@, char* scratch) {
@parallel@  {
    float* b_panels = reinterpret_cast<float*>(scratch) + @thread@ * (kPackedA + kPackedB);
    float* a_panels = b_panels + kPackedB;
@omp_for@    for (std::int64_t batch = 0; batch < kBatch; ++batch) {
      for (std::int64_t column0 = 0; column0 < kColumns; column0 += kColumnBlock) {
        const std::int64_t columns = std::min(kColumnBlock, kColumns - column0);
@depth_loop@          for (std::int64_t column = 0; column < columns; column += kTileColumns)
            PackPanel<kTileColumns>(b + @b_offset@ + (column0 + column) * @b_column@, @b_column@,
                                    @b_depth@, columns - column, depth,
                                    b_panels + column * kDepthBlock);
          for (std::int64_t row = 0; row < kRows; row += kRowBlock) {
            const std::int64_t rows = std::min(kRowBlock, kRows - row);
            PackRows(a + @a_offset@ + row * @a_row@, rows, depth, a_panels);
            Multiply(a_panels, b_panels, c@arguments@, @of_batch@row, rows, column0, columns,
                     depth@block_arguments@);
          }
        }
      }
    }
@stream_end@  }
}
)";

const std::string_view kKeptDriver = R"(
static constexpr std::int64_t kPackedA = (kRowBlock * kDepthBlock + 2 * kLanes) / kLanes * kLanes;
static constexpr std::int64_t kPackedB =
    (kColumns + kTileColumns - 1) / kTileColumns * kTileColumns * kDepth;
static constexpr std::size_t kScratchBytes = sizeof(float) * (kPackedB + kThreads * kPackedA);

// b's panels, which all calls of Run share.
static void Pack(const float* b, char* scratch) {
  float* b_panels = reinterpret_cast<float*>(scratch);
  for (std::int64_t column = 0; column < kColumns; column += kTileColumns)
    PackPanel<kTileColumns>(b + column * @b_column@, @b_column@, @b_depth@, kColumns - column,
                            kDepth, b_panels + column * kDepth);
}

// @task_note@
static void Run(const float* a, const float*, float* c@extra@, char* scratch) {
  const float* b_panels = reinterpret_cast<float*>(scratch);
@parallel@  {
    float* a_panels = reinterpret_cast<float*>(scratch) + kPackedB + @thread@ * kPackedA;
@omp_for_one@    for (std::int64_t column0 = 0; column0 < kColumns; column0 += kColumnBlock) {
      const std::int64_t columns = std::min(kColumnBlock, kColumns - column0);
      for (std::int64_t row = 0; row < kRows; row += kRowBlock) {
        const std::int64_t rows = std::min(kRowBlock, kRows - row);
        PackRows(a + row * @a_row@, rows, kDepth, a_panels);
        Multiply(a_panels, b_panels + column0 * kDepth, c@arguments@, row, rows, column0, columns,
                 kDepth);
      }
    }
@stream_end@  }
}
)";

}  // namespace pragma::expert::matmul_text
