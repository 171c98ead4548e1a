#include "expert/cpp/matmul_simple.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_finish.h"
#include "expert/cpp/matmul_kernel.h"

namespace pragma::expert {
namespace {

// With more rows than this, packing pays off.
constexpr std::int64_t kFewRows = 6;
// The sums of a stretch of columns stay in a core's L1 cache. A stretch shorter than kLeastColumns
// is not worth its loop.
constexpr std::int64_t kMostColumns = 2048;
constexpr std::int64_t kLeastColumns = 64;

constexpr std::string_view kDots = R"(
// kLanes columns of one row of c: dot products along the depth, four lines of b at a time so that
// the processor follows few streams.
static void Dots(const float* a, const float* b, float* c@extra@, @batch@std::int64_t row,
                 std::int64_t column) {
  constexpr std::int64_t kUnroll = @unroll@;
  Vec square[kLanes];  // square[i]: what the lanes of column + i have to be summed of
  for (std::int64_t i = 0; i < kLanes; i += 4) {
    const float* line[4];  // where columns end the last one again
    for (std::int64_t j = 0; j < 4; ++j)
      line[j] = b + std::min(column + i + j, kColumns - 1) * @b_column@;
    Vec sum[4][kUnroll] = {};
    std::int64_t k = 0;
    for (; k + kUnroll * kLanes <= kDepth; k += kUnroll * kLanes)
      for (std::int64_t u = 0; u < kUnroll; ++u)
        for (std::int64_t j = 0; j < 4; ++j)
          sum[j][u] = Fma(Load(a + k + u * kLanes), Load(line[j] + k + u * kLanes), sum[j][u]);
    for (; k < kDepth; k += kLanes) {
      const std::int64_t left = std::min(kLanes, kDepth - k);
      for (std::int64_t j = 0; j < 4; ++j)
        sum[j][0] = Fma(LoadPart(a + k, left), LoadPart(line[j] + k, left), sum[j][0]);
    }
    for (std::int64_t j = 0; j < 4; ++j) {
      for (std::int64_t u = 1; u < kUnroll; ++u) sum[j][0] += sum[j][u];
      square[i + j] = sum[j][0];
    }
  }
  Transpose(square);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) square[i] += square[i + half];
  if (column + kLanes <= kColumns) {
    Finish(square[0], c@arguments@, @of_batch@row, column);
  } else {
    FinishPart(square[0], c@arguments@, @of_batch@row, column, kColumns - column);
  }
}
)";

constexpr std::string_view kLines = R"(
static constexpr std::int64_t kColumnBlock = @block@;
// One row of c, columns from `column` on: lines of b times numbers of a, four at a time over a long
// stretch of each, so that the sums are seldom touched and the processor follows few streams.
static void Lines(const float* a, const float* b, float* c@extra@, @batch@std::int64_t row,
                  std::int64_t column) {
  alignas(64) float sum[kColumnBlock] = {};
  const std::int64_t columns = std::min(kColumnBlock, kColumns - column);
  const auto add = [&](std::int64_t k, auto lines, std::int64_t at, auto lanes) INLINE {
    Vec now = Load(sum + at);
    for (std::int64_t j = 0; j < decltype(lines)::value; ++j)
      now = Fma(Broadcast(a[k + j]), LoadLanes(b + (k + j) * @b_line@ + column + at, lanes), now);
    Store(sum + at, now);
  };
  const auto add_lines = [&](std::int64_t k, auto lines) INLINE {
    std::int64_t at = 0;
    for (; at + kLanes <= columns; at += kLanes) add(k, lines, at, AllLanes{});
    if (at < columns) add(k, lines, at, columns - at);
  };
  std::int64_t k = 0;
  for (; k + 4 <= kDepth; k += 4) add_lines(k, Count<4>{});
  for (; k < kDepth; ++k) add_lines(k, Count<1>{});
  std::int64_t at = 0;
  for (; at + kLanes <= columns; at += kLanes)
    Finish(Load(sum + at), c@arguments@, @of_batch@row, column + at);
  if (at < columns)
    FinishPart(Load(sum + at), c@arguments@, @of_batch@row, column + at, columns - at);
}
)";

constexpr std::string_view kUnpackedRun = R"(
static constexpr std::size_t kScratchBytes = 0;
static void Run(@operands@, float* c@extra@, char*) {
@parallel@  for (std::int64_t batch = 0; batch < kBatch; ++batch)
    for (std::int64_t column = 0; column < kColumns; column += @step@)
      for (std::int64_t row = 0; row < kRows; ++row)
        @function@(a + @a_offset@, b@b_offset@, c@arguments@, @of_batch@row, column);
}
)";

constexpr std::string_view kDiagonal = R"(
// kLanes numbers of the matrix that is no diagonal.
static inline Vec Line(const float* @matrix@, std::int64_t lanes) {
@line@}

static constexpr std::size_t kScratchBytes = 0;
static void Run(@operands@, float* c@extra@, char*) {
@parallel@  {
@omp_for@    for (std::int64_t batch = 0; batch < kBatch; ++batch) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        const float* line = @matrix@ + @offset@;
        std::int64_t column = 0;
        for (; column + kLanes <= kColumns; column += kLanes)
          Finish(Line(line + column * @step@, kLanes) * @factor@, c@arguments@, @of_batch@row, column);
        if (column < kColumns)
          FinishPart(Line(line + column * @step@, kColumns - column) * @part_factor@, c@arguments@,
                     @of_batch@row, column, kColumns - column);
      }
    }
@stream_end@  }
}
)";

std::string Head(const MatmulSpec& spec, std::string_view summary) {
  return fmt::format(
      "\n// {}\nnamespace {} {{\n"
      "[[maybe_unused]] static constexpr std::int64_t kBatch = {}, kRows = {}, kColumns = {}, "
      "kDepth = {};\n",
      summary, spec.name, spec.batch, spec.rows, spec.columns, spec.depth);
}

std::string Operands(bool swapped) {
  return swapped ? "const float* b, const float* a" : "const float* a, const float* b";
}

std::string BatchOffset(const MatmulSpec& spec, std::int64_t step) {
  return spec.batch > 1 && step != 0 ? fmt::format("batch * {} + ", step) : std::string();
}

double Work(const MatmulSpec& spec) {
  return static_cast<double>(spec.batch * spec.rows) * static_cast<double>(spec.columns);
}

// Returns the code of either method that reads both factors once. `body` is its template, and
// `places` are values in addition to the common ones.
KernelText UnpackedKernel(const MatmulSpec& spec, const KernelTarget& target,
                          const MatmulFinish& finish, std::string_view way, std::string_view body,
                          const Places& places) {
  const bool parallel = target.threads > 1 && Work(spec) * static_cast<double>(spec.depth) > 1e5;
  const std::string offset = BatchOffset(spec, spec.b.batch);
  std::string text =
      Head(spec, fmt::format("c[{0} x {1}] = a[{0} x {2}] * b[{2} x {1}]{3}, bound by reading the "
                             "factors once: {4}, nothing is packed.",
                             spec.rows, spec.columns, spec.depth,
                             spec.batch > 1 ? fmt::format(", {} times", spec.batch) : "", way));
  text += MatmulFinishText(spec, finish);
  Places all{
      {"extra", ExtraParameters(spec.extra)},
      {"arguments", ExtraArguments(spec.extra)},
      {"batch", BatchParameter(spec)},
      {"of_batch", BatchArgument(spec)},
      {"operands", Operands(finish.swapped)},
      {"parallel",
       parallel
           ? fmt::format("#pragma omp parallel for collapse(2) schedule(static) num_threads({})\n",
                         target.threads)
           : ""},
      {"a_offset", fmt::format("{}row * {}", BatchOffset(spec, spec.a.batch), spec.a.first)},
      {"b_offset", offset.empty() ? "" : fmt::format(" + batch * {}", spec.b.batch)}};
  all.insert(all.end(), places.begin(), places.end());
  KernelText kernel;
  kernel.code = text + FillIn(body, all) + FillIn(kUnpackedRun, all) +
                fmt::format("}}  // namespace {}\n", spec.name);
  kernel.facts.shares_work = parallel;
  return kernel;
}

}  // namespace

bool SuitsDots(const MatmulSpec& spec) {
  return spec.rows <= kFewRows && spec.a.second == 1 && spec.b.first == 1 && spec.depth >= 16 &&
         !IsTriangular(spec);
}

bool SuitsLines(const MatmulSpec& spec) {
  return spec.rows == 1 && spec.b.second == 1 && spec.a.second == 1 && spec.depth >= 16 &&
         spec.columns >= kLeastColumns && !IsTriangular(spec);
}

KernelText DotsKernel(const MatmulSpec& spec, const KernelTarget& target,
                      const MatmulFinish& finish) {
  return UnpackedKernel(spec, target, finish, "dot products", kDots,
                        {{"step", "kLanes"},
                         {"function", "Dots"},
                         {"unroll", target.registers >= 32 ? "4" : "2"},
                         {"b_column", fmt::format("{}", spec.b.second)}});
}

KernelText LinesKernel(const MatmulSpec& spec, const KernelTarget& target,
                       const MatmulFinish& finish) {
  // Chooses at least one block per thread, each a whole number of cache lines.
  const std::int64_t share = Blocks(Blocks(spec.columns, target.threads), target.lanes);
  const std::int64_t block = std::min(kMostColumns, share * target.lanes);
  KernelText kernel = UnpackedKernel(spec, target, finish, "sums of lines", kLines,
                                     {{"step", "kColumnBlock"},
                                      {"function", "Lines"},
                                      {"block", fmt::format("{}", block)},
                                      {"b_line", fmt::format("{}", spec.b.first)}});
  kernel.pieces.insert(VectorPiece::kLoops);
  return kernel;
}

KernelText DiagonalKernel(const MatmulSpec& spec, const KernelTarget& target, bool swapped) {
  const bool scales_rows = spec.structure == MatmulStructure::kDiagonalA;
  const MatrixSteps& full = scales_rows ? spec.b : spec.a;
  const std::int64_t step = full.second;
  const double bytes = 4 * Work(spec);
  const bool parallel = target.threads > 1 && Work(spec) > 1e5;
  const bool stream = spec.aligned_output &&
                      bytes >= static_cast<double>(target.shared_cache_bytes) &&
                      spec.c.first % target.lanes == 0 && spec.c.batch % target.lanes == 0;
  const std::string diagonal_a =
      fmt::format("a[{}row * {}]", BatchOffset(spec, spec.a.batch), spec.a.first);
  const std::string diagonal_b = fmt::format("b + {}column", BatchOffset(spec, spec.b.batch));
  std::string text =
      Head(spec, fmt::format("{} of a {} x {} matrix scaled by the other factor's diagonal.",
                             scales_rows ? "Rows" : "Columns", spec.rows, spec.columns));
  text += MatmulFinishText(spec, {.swapped = swapped, .stream = stream});
  text += FillIn(
      kDiagonal,
      {{"extra", ExtraParameters(spec.extra)},
       {"arguments", ExtraArguments(spec.extra)},
       {"of_batch", BatchArgument(spec)},
       {"operands", Operands(swapped)},
       {"matrix", scales_rows ? "b" : "a"},
       {"line", step == 1
                    ? fmt::format("  return lanes == kLanes ? Load({0}) : LoadPart({0}, lanes);\n",
                                  scales_rows ? "b" : "a")
                    : fmt::format("  Vec line = {{}};\n  for (std::int64_t i = 0; i < lanes; "
                                  "++i) line[i] = {}[i * {}];\n  return line;\n",
                                  scales_rows ? "b" : "a", step)},
       {"parallel",
        parallel ? fmt::format("#pragma omp parallel num_threads({})\n", target.threads) : ""},
       {"omp_for", parallel ? "#pragma omp for collapse(2) schedule(static)\n" : ""},
       {"offset", fmt::format("{}row * {}", BatchOffset(spec, full.batch), full.first)},
       {"step", fmt::format("{}", step)},
       {"factor", scales_rows ? diagonal_a : fmt::format("Load({})", diagonal_b)},
       {"part_factor",
        scales_rows ? diagonal_a : fmt::format("LoadPart({}, kColumns - column)", diagonal_b)},
       {"stream_end", stream ? "    StreamEnd();\n" : ""}});
  KernelText kernel;
  kernel.code = text + fmt::format("}}  // namespace {}\n", spec.name);
  kernel.facts.shares_work = parallel;
  kernel.facts.streams = stream;
  return kernel;
}

}  // namespace pragma::expert
