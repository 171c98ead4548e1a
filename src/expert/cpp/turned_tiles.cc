#include "expert/cpp/turned_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/task.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/nest_work.h"
#include "expert/cpp/row_pass.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/past_caches.h"

namespace pragma::expert {
namespace {

// The number of elements in each direction that a thread takes at a time. Along the load there are
// more (kLongTile) if that leaves enough work for all threads, so that rows are read in long
// stretches.
constexpr std::int64_t kTurnedTile = 256;
constexpr std::int64_t kLongTile = 1024;

// Returns a load that is contiguous along a long outer dimension, but not along the lanes.
std::optional<Turned> FindTurned(const Nest& nest) {
  const auto lane = static_cast<std::size_t>(nest.lane);
  std::optional<Turned> turned;
  for (const Step& step : nest.steps)
    VisitLoads(step.expr, [&](const Load& load, ExprType) {
      if (std::abs(load.address.factor[lane]) < kFloatsOfLine) return;
      for (const std::size_t i : OuterLoops(nest))
        if (load.address.factor[i] == 1 && nest.shape[i] >= kTurnedTile) turned = {&load, i};
    });
  return turned;
}

// Returns whether all loads of the buffer are this one, and none of them has bounds.
bool IsOnlyLoad(const NestContext& context, const Load& only) {
  const Buffer& buffer = context.program.buffers[static_cast<std::size_t>(only.buffer)];
  bool fits = buffer.dtype == DType::kFloat32;
  for (const Step& step : context.nest.steps)
    VisitLoads(step.expr, [&](const Load& load, ExprType type) {
      if (load.buffer != only.buffer) return;
      fits = fits && type == ExprType::kFloat && load.address == only.address &&
             load.bounds.empty() && load.indirect.empty();
    });
  return fits;
}

// Writes the whole lines of a tile, one square of a line each way at a time.
void WriteSquares(NestContext& context, NestFolds& folds, const Turned& turned) {
  const Nest& nest = context.nest;
  Writer& out = context.out;
  const Phase& phase = nest.phases[0];
  const auto lane = static_cast<std::size_t>(nest.lane);
  const std::string& other = context.loops[turned.other];
  const std::int64_t stride = turned.load->address.factor[lane];
  context.needs.pieces.insert(VectorPiece::kTurn);
  out.Line("for (std::int64_t line = begin; line + kLine <= end; line += kLine) {");
  out.Line("for (std::int64_t tile = block; tile + kLine <= to; tile += kLine) {");
  out.Line("Vec turned[kLineParts][kLine];");
  std::vector<std::string> loops = context.loops;
  loops[turned.other] = "tile";
  loops[lane] = "line";
  out.Line(fmt::format("LoadTurned({} + {}, {}, turned);",
                       context.program.buffers[static_cast<std::size_t>(turned.load->buffer)].name,
                       FormText(turned.load->address, loops), stride));
  out.Line("#pragma GCC unroll 16");
  out.Line(fmt::format("for (std::int64_t {0} = tile; {0} < tile + kLine; ++{0}) {{", other));
  out.Line("#pragma GCC unroll 4");
  out.Line("for (std::int64_t e = line; e < line + kLine; e += kLanes) {");
  out.Line("constexpr AllLanes lanes{};");
  context.values.BeginPass(&out, &out);
  context.values.Forward(
      turned.load->buffer,
      {fmt::format("turned[(e - line) / kLanes][{} - tile]", other), true, ExprType::kFloat});
  CountUses(context, phase);
  for (const std::size_t s : phase.steps) folds.WriteInside(nest.steps[s], out);
  context.values.Forget(turned.load->buffer);
  Forget(context, phase);
  CloseLoops(context, 4);
}

// Opens the loops over tiles: from block to `to` along the load, from begin to end along the lanes.
void OpenTiles(NestContext& context, const Turned& turned) {
  const Nest& nest = context.nest;
  struct Cut {
    const char* begin;
    const char* end;
    std::int64_t count;
    std::int64_t step;
  };
  const std::int64_t size = LaneCount(nest);
  const std::int64_t pieces = nest.OuterCount() / kLongTile * (size / kTurnedTile);
  const std::int64_t stretch =
      pieces >= 4 * context.choices.threads_count ? kLongTile : kTurnedTile;
  const std::array<Cut, 2> cuts{
      {{"block", "to", nest.shape[turned.other], stretch}, {"begin", "end", size, kTurnedTile}}};
  for (const Cut& cut : cuts)
    context.out.Line(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += {2}) {{", cut.begin,
                                 cut.count, cut.step));
  for (const Cut& cut : cuts)
    context.out.Line(fmt::format("const std::int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};",
                                 cut.end, cut.begin, cut.step, cut.count));
}

}  // namespace

std::optional<Turned> TurnedLoad(const NestContext& context) {
  const Nest& nest = context.nest;
  if (!nest.LaneInside() || nest.phases.size() != 1 || nest.InnerCount() != LaneCount(nest) ||
      LaneCount(nest) < kTurnedTile)
    return std::nullopt;
  if (!std::ranges::all_of(nest.steps,
                           [](const Step& step) { return step.kind == Step::Kind::kMap; }))
    return std::nullopt;
  std::optional<Turned> turned = FindTurned(nest);
  if (turned && !IsOnlyLoad(context, *turned->load)) turned.reset();
  return turned;
}

void WriteTurnedTiles(NestContext& context, const Turned& turned) {
  std::vector<std::size_t> outer = OuterLoops(context.nest);
  std::erase(outer, turned.other);
  NestFolds folds(context);
  SharedWork work(context, static_cast<int>(outer.size()) + 2);
  for (const std::size_t i : outer) OpenLoop(context, i);
  OpenTiles(context, turned);
  WriteSquares(context, folds, turned);
  context.out.Line("// What whole lines leave over.");
  OpenLoop(context, turned.other, "block", "to");
  const std::string from = fmt::format(
      "({} < block + (to - block) / kLine * kLine ? begin + (end - begin) / kLine * kLine : begin)",
      context.loops[turned.other]);
  WriteRowPass(context, folds, context.nest.phases[0], {from, "end"});
  CloseLoops(context, outer.size() + 3);
  work.Close();
}

}  // namespace pragma::expert
