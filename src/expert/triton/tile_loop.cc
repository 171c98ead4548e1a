#include "expert/triton/tile_loop.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_context.h"
#include "expert/triton/tile_fold.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {
namespace {

void OpenTileLoop(TileContext& context) {
  const std::int64_t count = context.nest.InnerCount();
  if (context.inner == Inner::kTaps) {
    // A group of results has the taps of a line unrolled already.
    const bool unrolls = count <= kUnrolledTaps && !context.nest.steps.front().beside;
    const char* range = unrolls ? "tl.static_range" : "range";
    return context.out.Open(fmt::format("for tap in {}({}):", range, count));
  }
  context.out.Open(fmt::format("for start in range(0, {}, COLUMNS):", count));
  context.out.Line(ColumnsFrom(context, "start + tl.arange(0, COLUMNS)"));
}

void AddInLoop(TileContext& context, const Step& step, const TileText& value, PyLines& before,
               PyLines& body) {
  NameFold(context, step);
  const TileFold fold = FoldOf(context, step);
  DeclareFold(fold, before);
  const std::string guarded = GuardedValue(context, fold, value);
  AddToFold(fold, guarded,
            IsArgFold(step.fold) ? GuardedPlace(context, PositionOf(context, step)) : "",
            context.helpers, body);
}

TileText ScanInLoop(TileContext& context, const Step& step, const TileText& value, PyLines& before,
                    PyLines& body) {
  const TileFold fold{step.fold, step.expr->type, context.names.New(step.name + "_before"),
                      "(ROWS, 1)"};
  DeclareFold(fold, before);
  const std::string guarded = context.names.New(step.name + "_value");
  body.Line(fmt::format("{} = {}", guarded,
                        FullTile(context, value, GuardedValue(context, fold, value))));
  const std::string running = context.names.New(step.name + "_running");
  const auto combine = [&](const std::string& name, const std::string& text) {
    body.Line(fmt::format("{} = {}", name, CombinedText(fold.fold, fold.type, fold.name, text)));
  };
  combine(running, RunningText(fold, guarded, context.helpers));
  combine(fold.name, ReducedText(fold, guarded, context.helpers));
  return {running, kRowAxis | kInnerAxis, value.type};
}

// Combines what the tile holds after the loop. What was mapped in it is computed again where it is
// read.
void AfterLoop(TileContext& context, const Phase& phase) {
  for (const std::size_t s : phase.steps) {
    const Step& step = context.nest.steps[s];
    if (step.kind == Step::Kind::kMap) context.values.Recompute(step.buffer, step.expr);
    if (step.kind != Step::Kind::kFold) continue;
    const TileFold fold = FoldOf(context, step);
    if (context.Tiles())
      ReduceFold(fold, fold.name, fold.name + "_place", context.helpers, context.out);
    FinishFold(context, step);
  }
}

}  // namespace

void WriteTileLoop(TileContext& context, const Phase& phase) {
  PyLines before(1);
  PyLines body(2);
  context.values.Begin(&before, &body, kInnerAxis);
  for (const std::size_t s : phase.steps) {
    const Step& step = context.nest.steps[s];
    TileText value = context.values.Write(step.expr);
    if (step.kind == Step::Kind::kFold) {
      AddInLoop(context, step, value, before, body);
      continue;
    }
    if (step.kind == Step::Kind::kScan) value = ScanInLoop(context, step, value, before, body);
    if (value.axes != 0) value = context.values.Named(step.name, value);
    StoreIfNeeded(context, step, value, body);
    context.values.KeepHere(step.buffer, value);
  }
  EmitTileLoop(context, before, body);
  AfterLoop(context, phase);
}

void EmitTileLoop(TileContext& context, const PyLines& before, const PyLines& body) {
  context.out.Append(before);
  OpenTileLoop(context);
  context.index.Define(1, context.out);
  context.out.Append(body);
  context.out.Close();
}

}  // namespace pragma::expert::triton
