#include "expert/cpp/column_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/nest_ahead.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/nest_pass.h"
#include "expert/cpp/nest_work.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

bool IsWide(const NestContext& context) {
  return context.numbers.wide > NestNumbers::kUsualColumns;
}

// Declares the number of adjacent vectors. Returns its name.
std::string DeclareColumns(NestContext& context) {
  constexpr std::int64_t kFloats = 16;  // floats in the widest vector
  const std::int64_t size = LaneCount(context.nest);
  const int wanted = WideColumns(context);
  std::vector<int> counts{1, 2, 4, 8, 16};
  if (wanted > NestNumbers::kUsualColumns) counts = {4, 8, 16, 32, 64, kWidestColumns};
  std::erase_if(counts, [&](int count) { return count > 1 && count * kFloats > size; });
  if (counts.empty()) counts = {1};
  context.numbers.wide = std::min(wanted, counts.back());
  std::string name = DeclareNumber(context, "COLUMNS", context.numbers.wide, counts);
  context.numbers.columns = name;
  if (IsWide(context)) {
    context.needs.pieces.insert(VectorPiece::kWide);
    // The width is a stretch of memory, independent of the processor's vector length.
    context.numbers.columns += " * kLine / kLanes";
  }
  return name;
}

void WriteColumnPass(NestContext& context, NestFolds& folds, const Phase& phase) {
  InnerPass pass(context, folds, phase, 1);
  WriteRowsAhead(context, phase, pass.body());
  WriteAhead(context, phase, pass.body());
  pass.OpenLoops();
  OpenVectors(context.out);
  context.out.Append(pass.body());
  context.out.Line("}");
  pass.Close();
}

}  // namespace

void WriteColumns(NestContext& context) {
  const Nest& nest = context.nest;
  const std::vector<std::size_t> outer = OuterLoops(nest);
  const std::string vectors = DeclareColumns(context);
  const bool wide = IsWide(context);
  NestFolds folds(context);
  SharedWork work(context, static_cast<int>(outer.size()) + 1);
  for (const std::size_t i : outer) OpenLoop(context, i);
  context.out.Line(fmt::format("for (std::int64_t block = 0; block < {}; block += {} * {}) {{",
                               LaneCount(nest), vectors, wide ? "kLine" : "kLanes"));
  context.out.Line(
      fmt::format("For{}Columns<{}>(block, {}, [&](std::int64_t first, auto vectors, "
                  "[[maybe_unused]] auto lanes) INLINE {{",
                  wide ? "Wide" : "", context.numbers.columns, LaneCount(nest)));
  context.out.Line("constexpr int V = decltype(vectors)::value;");
  for (const Phase& phase : nest.phases)
    phase.outer ? WriteColumnsOnce(context, phase) : WriteColumnPass(context, folds, phase);
  context.out.Line("});");
  CloseLoops(context, outer.size() + 1);
  work.Close();
}

void WriteColumnsOnce(NestContext& context, const Phase& phase) {
  for (const std::size_t s : phase.steps) {
    const Step& step = context.nest.steps[s];
    Writer body(context.out.depth() + 1);
    context.values.BeginPass(&body, &body);
    context.values.CountUses(step.expr);
    const Text value = context.values.Write(step.expr);
    Text kept = value;
    if (Reads(context.nest, step.buffer)) {
      kept.code = context.values.NewName(step.name);
      kept.vector = true;
      context.out.Line(fmt::format("Vec {}[V];", kept.code));
      kept.code += "[v]";
    }
    OpenVectors(context.out);
    context.out.Append(body);
    if (kept.code != value.code) {
      context.out.Line(fmt::format("{} = {};", kept.code, context.values.AsVector(value)));
      context.values.Forward(step.buffer, kept);
    }
    Store(context, context.out, step, kept);
    context.out.Line("}");
  }
}

}  // namespace pragma::expert
