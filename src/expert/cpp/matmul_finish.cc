#include "expert/cpp/matmul_finish.h"

#include <fmt/format.h>

#include <string>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_kernel.h"
#include "expert/cpp/matmul_text.h"

namespace pragma::expert {
namespace {

using enum MatmulStructure;

std::string TriangleText(const MatmulSpec& spec) {
  const std::string edge = fmt::format("{}", spec.diagonal);
  const bool up = spec.structure == kUpperOutput;
  return FillIn(matmul_text::kTriangle,
                {{"side", up ? "upper" : "lower"},
                 {"condition", fmt::format("column - row {} {}", up ? ">=" : "<=", edge)},
                 {"outside", up ? fmt::format("column + columns - 1 - row < {}", edge)
                                : fmt::format("column - (row + rows - 1) > {}", edge)},
                 {"all_inside", up ? fmt::format("column - row >= {}", edge)
                                   : fmt::format("column + kLanes - 1 - row <= {}", edge)},
                 {"inside", fmt::format("column + lane - row {} {}", up ? ">=" : "<=", edge)}});
}

// Returns the code that is applied to a vector of sums once they are complete.
std::string Results(const MatmulSpec& spec, const MatmulFinish& finish, bool whole) {
  std::string text;
  const std::string batch = fmt::format("(row / {})", finish.rows_of_one);
  const std::string row = fmt::format("(row % {})", finish.rows_of_one);
  if (IsTriangular(spec)) text += "  value = KeepTriangle(value, row, column);\n";
  if (spec.epilogue) {
    OutputSite site;
    site.whole = whole;
    if (!whole) site.lanes = "lanes";
    if (spec.batch == 1) site.batch = "0";
    if (finish.rows_of_one > 0) {
      site.batch = batch;
      site.row = row;
    }
    if (finish.swapped) {
      site.row = "column";
      site.column = "row";
      site.along = OutputSite::Along::kRow;
    }
    text += spec.epilogue(site);
  }
  if (text.empty()) return text;
  if (text.back() != '\n') text += '\n';
  return finish.blocked ? "  if (last) {\n" + text + "  }\n" : text;
}

}  // namespace

std::string BatchParameter(const MatmulSpec& spec) {
  return spec.batch > 1 ? "std::int64_t batch, " : "";
}
std::string BatchArgument(const MatmulSpec& spec) { return spec.batch > 1 ? "batch, " : ""; }

bool IsTriangular(const MatmulSpec& spec) {
  return spec.structure == kUpperOutput || spec.structure == kLowerOutput;
}
bool IsDiagonal(const MatmulSpec& spec) {
  return spec.structure == kDiagonalA || spec.structure == kDiagonalB;
}

std::string MatmulFinishText(const MatmulSpec& spec, const MatmulFinish& finish) {
  const bool uses_last = IsTriangular(spec) || spec.epilogue;
  const auto if_blocked = [&](std::string text) { return finish.blocked ? text : std::string(); };
  const std::string index =
      (spec.batch > 1 ? fmt::format("batch * {} + ", spec.c.batch) : std::string()) +
      fmt::format("row * {} + column", spec.c.first);
  return (IsTriangular(spec) ? TriangleText(spec) : std::string()) +
         FillIn(
             matmul_text::kFinish,
             {{"finish_note", if_blocked(": added to what earlier blocks of the depth left there")},
              {"extra", ExtraParameters(spec.extra)},
              {"batch", BatchParameter(spec)},
              {"finish_flags", if_blocked(uses_last ? ", bool first, bool last"
                                                    : ", bool first, [[maybe_unused]] bool last")},
              {"index", index},
              {"add_whole", if_blocked("  if (!first) value += Load(c + index);\n")},
              {"add_part", if_blocked("  if (!first) value += LoadPart(c + index, lanes);\n")},
              {"epilogue_whole", Results(spec, finish, true)},
              {"epilogue_part", Results(spec, finish, false)},
              {"store", finish.stream ? "Stream" : "Store"}});
}

}  // namespace pragma::expert
