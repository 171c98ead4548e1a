#include "expert/triton/tile_context.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_scope.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_fold.h"
#include "expert/triton/tile_index.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {
namespace {

std::vector<TileAxis> AxesOf(const Nest& nest, Inner inner, const std::vector<Config>& configs) {
  TileAxis outer{"row", "[:, None]", {}, ""};
  TileAxis folded{"column", "[None, :]", {}, ""};
  if (inner == Inner::kTurned) {
    const Turned turned = *TurnedOf(nest);
    outer.dims = turned.rows;
    folded.dims = {turned.column};
  } else {
    for (std::size_t i = 0; i < nest.shape.size(); ++i)
      (nest.inner[i] ? folded : outer).dims.push_back(i);
  }
  const auto leaves = [](std::int64_t count, int block) { return count % block != 0; };
  if (inner == Inner::kNone) {
    outer.index = "at";
    outer.suffix = "";
    if (leaves(Elements(nest.shape), LargestOf(configs, "BLOCK"))) outer.inside = "inside";
    return {outer};
  }
  const std::int64_t rows = Elements(nest.shape, outer.dims);
  if (leaves(rows, LargestOf(configs, "ROWS"))) outer.inside = "row_inside";
  if (inner == Inner::kTaps) {
    outer.suffix = "";
    folded.index = "tap";
    folded.suffix = "";
  } else if (leaves(Elements(nest.shape, folded.dims), LargestOf(configs, "COLUMNS"))) {
    folded.inside = "column_inside";
  }
  return {outer, folded};
}

}  // namespace

TileContext::TileContext(const Program& of, const Nest& what, std::int64_t whole_row)
    : program(of),
      nest(what),
      inner(InnerOf(what, whole_row)),
      configs(ConfigsOf(what, inner)),
      wide(NeedsWideIndex(of, what)),
      names(NamesFor(of)),
      index(what.shape, AxesOf(what, inner, configs)),
      values(of, index, names) {}

std::string ColumnsFrom(const TileContext& context, const std::string& text) {
  return context.wide ? fmt::format("column = ({}).to(tl.int64)", text) : "column = " + text;
}

void NameFold(TileContext& context, const Step& step) {
  context.fold_names[&step] = context.names.New(step.name);
}

TileFold FoldOf(const TileContext& context, const Step& step) {
  TileFold fold{step.fold, step.expr->type, context.fold_names.at(&step),
                context.Tiles() ? "(ROWS, COLUMNS)" : "(ROWS,)", context.wide};
  if (IsArgFold(step.fold) && fold.type == ExprType::kBool) fold.type = ExprType::kInt;
  return fold;
}

std::string PositionOf(TileContext& context, const Step& step) {
  if (!IsArgFold(step.fold)) return "";
  const std::string position = context.index.Text(step.position).code;
  // Where rows need 64 bits, only some of the indices have them.
  return context.wide ? fmt::format("tl.cast({}, tl.int64)", position) : position;
}

std::string GuardedPlace(const TileContext& context, const std::string& position) {
  const std::string inside = context.index.Inside(kInnerAxis);
  return inside.empty()
             ? position
             : fmt::format("tl.where({}, {}, {})", inside, position, NoPlace(context.wide));
}

std::string GuardedValue(const TileContext& context, const TileFold& fold, const TileText& value) {
  return Guarded(fold, value.code, context.index.Inside(kInnerAxis));
}

std::string FullTile(const TileContext& context, const TileText& value, const std::string& code) {
  const bool full = (value.axes & kInnerAxis) != 0 || !context.index.Inside(kInnerAxis).empty();
  return full ? code : fmt::format("tl.broadcast_to({}, (ROWS, COLUMNS))", code);
}

void StoreIfNeeded(TileContext& context, const Step& step, const TileText& value, PyLines& out) {
  if (!context.nest.forwarded.contains(step.buffer))
    context.values.Store(out, step.buffer, step.place, value);
}

void FinishFold(TileContext& context, const Step& step) {
  const TileFold fold = FoldOf(context, step);
  TileText value{fold.name, kRowAxis, step.expr->type};
  if (IsArgFold(step.fold)) {
    value = {fold.name + "_place", kRowAxis, ExprType::kInt};
  } else if (step.expr->type == ExprType::kBool) {
    value.code = fmt::format("({} != 0)", fold.name);
  }
  context.values.Keep(step.buffer, value);
  StoreIfNeeded(context, step, value, context.out);
}

}  // namespace pragma::expert::triton
