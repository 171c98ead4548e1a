#include "expert/triton/nest_kernel.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/one_walk.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_context.h"
#include "expert/triton/tile_fold.h"
#include "expert/triton/tile_loop.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {
namespace {

void FoldTile(TileContext& context, const Step& step, const TileText& value) {
  NameFold(context, step);
  const TileFold fold = FoldOf(context, step);
  std::string code = FullTile(context, value, GuardedValue(context, fold, value));
  std::string position = PositionOf(context, step);
  if (IsArgFold(step.fold)) {
    code = fmt::format("tl.broadcast_to({}, (ROWS, COLUMNS))", code);
    position = fmt::format("tl.broadcast_to({}, (ROWS, COLUMNS))", GuardedPlace(context, position));
  }
  ReduceFold(fold, code, position, context.helpers, context.out);
  FinishFold(context, step);
}

TileText ScanTile(TileContext& context, const Step& step, const TileText& value) {
  const TileFold fold{step.fold, step.expr->type, step.name, ""};
  const std::string code = FullTile(context, value, GuardedValue(context, fold, value));
  return {RunningText(fold, code, context.helpers), kRowAxis | kInnerAxis, value.type};
}

DType TypeOfResult(const TileContext& context, const Step& step) {
  return context.program.buffers[static_cast<std::size_t>(step.buffer)].dtype;
}

// Writes a pass with everything in one tile, or once per row.
void WriteStraight(TileContext& context, const Phase& phase) {
  context.values.Begin(&context.out, &context.out, 0);
  for (const std::size_t s : phase.steps) {
    const Step& step = context.nest.steps[s];
    context.values.WriteFor(TypeOfResult(context, step));
    TileText value = context.values.Write(step.expr);
    if (step.kind == Step::Kind::kFold) {
      FoldTile(context, step, value);
      continue;
    }
    if (step.kind == Step::Kind::kScan) value = ScanTile(context, step, value);
    if (value.axes != 0) value = context.values.Named(step.name, value);
    StoreIfNeeded(context, step, value, context.out);
    context.values.Keep(step.buffer, value);
  }
}

void WritePasses(TileContext& context) {
  const bool loops = context.inner == Inner::kBlocks || context.inner == Inner::kTaps;
  for (std::size_t p = 0; p < context.nest.phases.size(); ++p) {
    const Phase& phase = context.nest.phases[p];
    if (phase.outer || !loops) {
      WriteStraight(context, phase);
    } else if (WriteOneWalk(context, p)) {
      ++p;
    } else {
      WriteTileLoop(context, phase);
    }
  }
}

std::string TurnedLines(TileContext& context) {
  PyLines head(1);
  head.Line(fmt::format("program = tl.program_id(0){}", context.wide ? ".to(tl.int64)" : ""));
  head.Line(fmt::format("tiles = tl.cdiv({}, COLUMNS)", context.index.Count(1)));
  head.Line("row = program // tiles * ROWS + tl.arange(0, ROWS)");
  head.Line("column = program % tiles * COLUMNS + tl.arange(0, COLUMNS)");
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) context.index.Define(axis, head);
  return head.text();
}

// Returns the lines that set the indices. All that the passes use are known by then.
std::string IndexLines(TileContext& context) {
  PyLines head(1);
  if (context.inner == Inner::kTurned) return TurnedLines(context);
  const std::string block = context.inner == Inner::kNone ? "BLOCK" : "ROWS";
  head.Line(fmt::format("{} = tl.program_id(0){} * {} + tl.arange(0, {})",
                        context.index.axes()[0].index, context.wide ? ".to(tl.int64)" : "", block,
                        block));
  context.index.Define(0, head);
  if (context.inner == Inner::kWhole) {
    head.Line(ColumnsFrom(context, "tl.arange(0, COLUMNS)"));
    context.index.Define(1, head);
  }
  return head.text();
}

std::vector<GridFactor> GridOf(const TileContext& context) {
  const Nest& nest = context.nest;
  if (context.inner == Inner::kNone) return {{Elements(nest.shape), "BLOCK"}};
  if (context.inner != Inner::kTurned) return {{nest.OuterCount(), "ROWS"}};
  return {{context.index.Count(0), "ROWS"}, {context.index.Count(1), "COLUMNS"}};
}

}  // namespace

KernelText NestKernel(const Program& program, const Nest& nest, const std::string& name,
                      std::int64_t whole_row) {
  TileContext context(program, nest, whole_row);
  for (const Step& step : nest.steps) context.values.CountUses(step.expr);
  WritePasses(context);
  KernelText kernel;
  kernel.name = name;
  kernel.body = IndexLines(context) + context.out.text();
  kernel.uses_library = context.uses_library;
  kernel.helpers = context.helpers;
  AddUses(context.values, kernel);
  kernel.configs = context.configs;
  kernel.grid = GridOf(context);
  return kernel;
}

}  // namespace pragma::expert::triton
