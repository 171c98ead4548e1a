#include "expert/cpp/matmul_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_finish.h"
#include "expert/cpp/matmul_plan.h"
#include "expert/cpp/matmul_simple.h"
#include "expert/cpp/matmul_text.h"

namespace pragma::expert {
namespace {

// Merges consecutive matrices of a and c that are multiplied by the same b into one long matrix.
MatmulSpec Flattened(MatmulSpec spec, std::int64_t& rows_of_one) {
  rows_of_one = 0;
  if (spec.batch == 1 || spec.b.batch != 0 || IsBanded(spec) ||
      spec.structure != MatmulStructure::kNone || spec.c.second != 1 || spec.columns == 1 ||
      spec.a.batch != spec.rows * spec.a.first || spec.c.batch != spec.rows * spec.c.first)
    return spec;
  rows_of_one = spec.rows;
  spec.rows *= spec.batch;
  spec.batch = 1;
  spec.a.batch = spec.c.batch = 0;
  return spec;
}

// Makes the contiguous dimension of c its columns. Where both are contiguous, the longer one is
// chosen.
MatmulSpec Normalised(MatmulSpec spec, bool& swapped) {
  swapped = spec.c.second != 1 || (spec.columns == 1 && spec.rows > 1 && spec.c.first == 1);
  if (!swapped) return spec;
  std::swap(spec.rows, spec.columns);
  std::swap(spec.a, spec.b);
  std::swap(spec.a.first, spec.a.second);
  std::swap(spec.b.first, spec.b.second);
  std::swap(spec.c.first, spec.c.second);
  spec.diagonal = -spec.diagonal;
  spec.keeps_b = false;
  const Diagonals left = spec.a_nonzero;
  spec.a_nonzero = spec.b_nonzero.Transposed();
  spec.b_nonzero = left.Transposed();
  using enum MatmulStructure;
  switch (spec.structure) {
    case kUpperOutput: spec.structure = kLowerOutput; break;
    case kLowerOutput: spec.structure = kUpperOutput; break;
    case kDiagonalA: spec.structure = kDiagonalB; break;
    case kDiagonalB: spec.structure = kDiagonalA; break;
    case kNone: break;
  }
  return spec;
}

// MatmulWriter: holds every value for which the @names@ of the templates may ask.
class MatmulWriter final {
 public:
  MatmulWriter(const MatmulSpec& spec, const KernelTarget& target, const MatmulFinish& finish)
      : spec_(spec),
        plan_(PlanMatmul(spec, target)),
        swapped_(finish.swapped),
        rows_of_one_(finish.rows_of_one) {}

  [[nodiscard]] KernelText Kernel() {
    KernelText kernel;
    std::string text = Head(kernel.facts);
    text += MatmulFinishText(spec_, {.swapped = swapped_,
                                     .blocked = blocked(),
                                     .stream = plan_.stream,
                                     .rows_of_one = rows_of_one_});
    if (fetches()) text += Fetch();
    text += Tile();
    text += Multiply() + PackRows() + Driver();
    kernel.code = text + fmt::format("}}  // namespace {}\n", spec_.name);
    kernel.keeps = Keeps(spec_);
    kernel.facts.shares_work = plan_.threads > 1;
    kernel.facts.streams = plan_.stream;
    return kernel;
  }

 private:
  [[nodiscard]] bool blocked() const { return plan_.blocked(spec_); }
  [[nodiscard]] bool triangular() const { return IsTriangular(spec_); }
  [[nodiscard]] std::string extra() const { return ExtraParameters(spec_.extra); }
  [[nodiscard]] std::string arguments() const { return ExtraArguments(spec_.extra); }
  [[nodiscard]] std::string flags(std::string text) const { return blocked() ? text : ""; }

  [[nodiscard]] std::string a_panel() const {
    return plan_.panels ? "row / kTileRows * kPanelA" : "row * kDepthBlock";
  }
  [[nodiscard]] bool banded() const { return IsBanded(spec_); }
  [[nodiscard]] std::string depth_flag() const {
    return banded() && blocked() ? ", std::int64_t depth0" : "";
  }

  [[nodiscard]] std::string Head(CppFacts& facts) const;
  [[nodiscard]] std::string Tile() const;
  [[nodiscard]] std::string Prefetch() const;
  [[nodiscard]] std::string DepthRange() const;
  [[nodiscard]] std::string Multiply() const;
  [[nodiscard]] std::string PackRows() const;
  [[nodiscard]] std::string Driver() const;
  // Returns whether the next columns of b are fetched while others are used.
  [[nodiscard]] bool fetches() const {
    return plan_.panels && (spec_.b.first == 1 || spec_.b.second == 1);
  }
  [[nodiscard]] std::string if_fetches(std::string_view text) const {
    return fetches() ? std::string(text) : std::string();
  }
  [[nodiscard]] std::string Fetch() const;
  [[nodiscard]] std::string NextBlock() const;
  [[nodiscard]] std::string DepthLoop(std::string_view indent) const;

  const MatmulSpec& spec_;
  MatmulPlan plan_;
  bool swapped_;
  std::int64_t rows_of_one_;
};

std::string MatmulWriter::Head(CppFacts& facts) const {
  const std::string name = InCapitals(spec_.name);
  const auto tunable = [&](const char* what, std::int64_t value, std::vector<std::int64_t> others) {
    const TunableNumber number = NumberOf(name + what, value, std::move(others));
    return spec_.tuning.Declare(number, facts.tunables) + "\n";
  };
  std::string text = fmt::format("\n// c[{0} x {1}] = a[{0} x {2}] * b[{2} x {1}]", spec_.rows,
                                 spec_.columns, spec_.depth);
  if (spec_.batch > 1) text += fmt::format(", {} times", spec_.batch);
  if (swapped_) text += "; a and b change places, so that c's rows are contiguous";
  text += fmt::format(".\nnamespace {} {{\n", spec_.name);
  text += fmt::format(
      "[[maybe_unused]] static constexpr std::int64_t kBatch = {}, kRows = {}, kColumns = {}, "
      "kDepth = {};\n",
      spec_.batch, spec_.rows, spec_.columns, spec_.depth);
  text += "// Sums in registers: rows times vectors.\n";
  text += tunable("_TILE_ROWS", plan_.tile.rows, {6, 8, 12, 14});
  text += tunable("_TILE_VECTORS", plan_.tile.vectors, {1, 2, 3});
  text += "// Blocks: of a (in tiles) for the core's own cache, of b for the shared one.\n";
  if (plan_.panels) {
    text += tunable("_COLUMN_TILES", plan_.column_tiles, {1, 2, 4});
  } else {
    text += tunable("_ROW_TILES", plan_.row_tiles, {plan_.row_tiles / 2, plan_.row_tiles * 2});
    text += tunable("_COLUMN_TILES", plan_.column_tiles,
                    {plan_.column_tiles / 2, plan_.column_tiles * 2});
  }
  if (blocked()) text += tunable("_DEPTH", plan_.depth_block, {256, 384, 768});
  text += fmt::format(R"(static constexpr int kThreads = {0};
static constexpr std::int64_t kTileRows = std::min<std::int64_t>({1}_TILE_ROWS, kRows);
static constexpr std::int64_t kTileVectors = {1}_TILE_VECTORS;
static constexpr std::int64_t kTileColumns = kTileVectors * kLanes;
static constexpr std::int64_t kColumnBlock = {1}_COLUMN_TILES * kTileColumns;
static constexpr std::int64_t kDepthBlock = {2};
)",
                      plan_.threads, name, blocked() ? name + "_DEPTH" : "kDepth");
  // Panels of a that threads pack at the same time must not overlap: the last store into a panel
  // may go beyond its end.
  text += plan_.panels
              ? "static constexpr std::int64_t kRowTiles = (kRows + kTileRows - 1) / kTileRows;\n"
                "static constexpr std::int64_t kPanelA = (kTileRows * kDepthBlock + 2 * kLanes) / "
                "kLanes * kLanes;\n"
              : fmt::format("static constexpr std::int64_t kRowBlock = {}_ROW_TILES * kTileRows;\n",
                            name);
  return text;
}

std::string MatmulWriter::Tile() const {
  const bool lengthy = IsLong(spec_.epilogue);
  const auto ending = [&](std::string_view text) {
    return FillIn(text, {{"arguments", arguments()},
                         {"of_batch", BatchArgument(spec_)},
                         {"why", lengthy ? "what follows" : "the rare case"},
                         {"block_arguments", flags(", first, last")}});
  };
  return FillIn(matmul_text::kTile,
                {{"extra", extra()},
                 {"batch", BatchParameter(spec_)},
                 {"block_flags", flags(", bool first, bool last")},
                 {"ending", (lengthy ? std::string() : ending(matmul_text::kWholeEnding)) +
                                ending(matmul_text::kEnding)},
                 {"ahead_flag", if_fetches(", const Ahead& ahead")},
                 {"fetch", if_fetches("    if (k % kFetchSteps == 0 && ahead.next != nullptr) "
                                      "Fetch(ahead, k);\n")},
                 {"prefetch", Prefetch()}});
}

std::string MatmulWriter::Prefetch() const {
  if (!blocked()) return "";
  const std::string batch =
      spec_.batch > 1 ? fmt::format("batch * {} + ", spec_.c.batch) : std::string();
  return fmt::format(R"(  if (!first) {{
    for (std::int64_t i = 0; i < kTall; ++i)
      for (std::int64_t j = 0; j < kTileVectors; ++j)
        __builtin_prefetch(c + {}(row + i) * {} + column + j * kLanes, 1);
  }}
)",
                     batch, spec_.c.first);
}

// Returns the range of the depth that a tile needs, counted from the first step of the block.
std::string MatmulWriter::DepthRange() const {
  const auto plus = [](std::int64_t number) {
    return number == 0 ? std::string()
                       : fmt::format(" {} {}", number < 0 ? '-' : '+', std::abs(number));
  };
  std::vector<std::string> begins;
  std::vector<std::string> ends;  // one behind the last step
  const Diagonals& a = spec_.a_nonzero;
  const Diagonals& b = spec_.b_nonzero;
  if (a.low) begins.push_back("row0 + row" + plus(*a.low));
  if (a.high) ends.push_back("row0 + row + kTileRows" + plus(*a.high));
  if (b.high) begins.push_back("column0 + column" + plus(-*b.high));
  if (b.low) ends.push_back("column0 + column + kTileColumns" + plus(-*b.low));
  const auto one = [](const std::vector<std::string>& all, std::string_view which) {
    return all.size() == 1 ? all[0] : fmt::format("std::{}({})", which, fmt::join(all, ", "));
  };
  const std::string offset = blocked() ? " - depth0" : "";
  std::string text = "      // Beside these steps all factors are zero.\n";
  text += begins.empty()
              ? "      constexpr std::int64_t begin = 0;\n"
              : fmt::format(
                    "      const std::int64_t begin = std::clamp<std::int64_t>({}{}, 0, depth);\n",
                    one(begins, "max"), offset);
  text +=
      ends.empty()
          ? "      const std::int64_t end = depth;\n"
          : fmt::format(
                "      const std::int64_t end = std::clamp<std::int64_t>({}{}, begin, depth);\n",
                one(ends, "min"), offset);
  return text;
}

std::string MatmulWriter::Multiply() const {
  std::string skip;
  const std::string count = banded() ? "end - begin" : "depth";
  if (triangular()) {
    skip =
        "      const bool outside = Outside(row0 + row, column0 + column, kTileRows, "
        "kTileColumns);\n";
    if (blocked()) skip += "      if (outside && !last) continue;\n";
  }
  if (banded()) {
    skip += DepthRange();
    if (blocked()) skip += "      if (begin == end && !first && !last) continue;\n";
  }
  return FillIn(
      matmul_text::kMultiply,
      {{"extra", extra()},
       {"arguments", arguments()},
       {"batch", BatchParameter(spec_)},
       {"of_batch", BatchArgument(spec_)},
       {"block_flags", depth_flag() + flags(", bool first, bool last")},
       {"a_panel", a_panel()},
       {"next_flag", if_fetches(", const float* next")},
       {"ahead",
        if_fetches("      const Ahead ahead{next, column / kTileColumns * kRowTiles + row / "
                   "kTileRows};\n")},
       {"ahead_argument", if_fetches(", ahead")},
       {"a_begin", banded() ? " + begin * kTileRows" : ""},
       {"b_begin", banded() ? " + begin * kTileColumns" : ""},
       {"tile_flags", flags(triangular() ? ", first || outside, last" : ", first, last")},
       {"steps", triangular() ? "outside ? 0 : " + count : count},
       {"skip", skip}});
}

std::string MatmulWriter::PackRows() const {
  if (plan_.panels) return "";  // the driver packs all of a at once
  return FillIn(matmul_text::kPackRows, {{"a_panel", a_panel()},
                                         {"a_row", fmt::format("{}", spec_.a.first)},
                                         {"a_depth", fmt::format("{}", spec_.a.second)}});
}

std::string MatmulWriter::DepthLoop(std::string_view indent) const {
  if (!blocked())
    return fmt::format("{}{{\n{}  constexpr std::int64_t depth = kDepth;\n", indent, indent);
  return fmt::format(
      "{0}for (std::int64_t depth0 = 0; depth0 < kDepth; depth0 += kDepthBlock) {{\n"
      "{0}  const std::int64_t depth = std::min<std::int64_t>(kDepthBlock, kDepth - depth0);\n"
      "{0}  const bool first = depth0 == 0, last = depth0 + depth == kDepth;\n",
      indent);
}

std::string MatmulWriter::Fetch() const {
  const bool along_depth = spec_.b.first == 1;  // what is contiguous in b
  return FillIn(matmul_text::kFetch,
                {{"length", along_depth ? "kDepthBlock" : "kColumnBlock"},
                 {"count", along_depth ? "kColumnBlock" : "kDepthBlock"},
                 {"pitch", fmt::format("{}", along_depth ? spec_.b.second : spec_.b.first)}});
}

// Returns where the block of b begins that the thread packs next, or null.
std::string MatmulWriter::NextBlock() const {
  return fmt::format(
      "column0 + 2 * kColumnBlock <= kColumns ? b + {}(column0 + kColumnBlock) * {} : nullptr",
      blocked() ? fmt::format("depth0 * {} + ", spec_.b.first) : "", spec_.b.second);
}

std::string MatmulWriter::Driver() const {
  const auto offset = [&](std::int64_t batch, std::int64_t depth) {
    std::string text;
    if (spec_.batch > 1) text += fmt::format("batch * {}", batch);
    if (blocked()) text += fmt::format("{}depth0 * {}", text.empty() ? "" : " + ", depth);
    return text.empty() ? std::string("0") : text;
  };
  const bool parallel = plan_.threads > 1;
  return FillIn(
      Keeps(spec_)   ? matmul_text::kKeptDriver
      : plan_.panels ? matmul_text::kPanelDriver
      : plan_.shared ? matmul_text::kSharedDriver
                     : matmul_text::kTaskDriver,
      {{"operands", swapped_ ? "const float* b, const float* a" : "const float* a, const float* b"},
       {"extra", extra()},
       {"arguments", arguments()},
       {"block_arguments", (depth_flag().empty() ? "" : ", depth0") + flags(", first, last")},
       {"of_batch", BatchArgument(spec_)},
       {"batch_loop",
        spec_.batch > 1 ? "    for (std::int64_t batch = 0; batch < kBatch; ++batch)\n" : ""},
       {"depth_loop", DepthLoop(plan_.panels   ? "    "
                                : plan_.shared ? "      "
                                               : "        ")},
       {"a_offset", offset(spec_.a.batch, spec_.a.second)},
       {"b_offset", offset(spec_.b.batch, spec_.b.first)},
       {"a_row", fmt::format("{}", spec_.a.first)},
       {"a_depth", fmt::format("{}", spec_.a.second)},
       {"block_of_a", blocked() ? "depth0 / kDepthBlock * kPackedA" : "0"},
       // A thread has the same columns for each block of the depth, so it need not wait for others.
       {"omp_for_columns", parallel ? "#pragma omp for schedule(static) nowait\n" : ""},
       {"next", fetches() ? ",\n                 " + NextBlock() : ""},
       {"b_column", fmt::format("{}", spec_.b.second)},
       {"b_depth", fmt::format("{}", spec_.b.first)},
       {"task_note", !parallel ? "Too small to share out among threads."
                     : Keeps(spec_)
                         ? "Blocks of columns are independent."
                         : "Blocks of columns are independent: each thread packs its own."},
       {"parallel", parallel ? "#pragma omp parallel num_threads(kThreads)\n" : ""},
       {"thread", parallel ? "omp_get_thread_num()" : "0"},
       {"omp_for", parallel ? "#pragma omp for collapse(2) schedule(dynamic)\n" : ""},
       {"omp_for_one", parallel ? "#pragma omp for schedule(static)\n" : ""},
       {"stream_end", plan_.stream ? "    StreamEnd();\n" : ""}});
}

}  // namespace

KernelText GenerateMatmul(const MatmulSpec& original, const KernelTarget& target) {
  bool swapped = false;
  std::int64_t rows_of_one = 0;
  const MatmulSpec spec = Normalised(Flattened(original, rows_of_one), swapped);
  const MatmulFinish finish{.swapped = swapped, .rows_of_one = rows_of_one};
  KernelText kernel = IsDiagonal(spec)   ? DiagonalKernel(spec, target, swapped)
                      : SuitsDots(spec)  ? DotsKernel(spec, target, finish)
                      : SuitsLines(spec) ? LinesKernel(spec, target, finish)
                                         : MatmulWriter(spec, target, finish).Kernel();
  kernel.pieces.insert({VectorPiece::kCore, VectorPiece::kParts, VectorPiece::kStream});
  return kernel;
}

}  // namespace pragma::expert
