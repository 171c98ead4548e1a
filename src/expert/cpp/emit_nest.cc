#include "expert/cpp/emit_nest.h"

#include <algorithm>
#include <optional>

#include "expert/cpp/column_pass.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_parts.h"
#include "expert/cpp/nest_spread.h"
#include "expert/cpp/nest_windows.h"
#include "expert/cpp/nest_work.h"
#include "expert/cpp/row_pass.h"
#include "expert/cpp/turned_tiles.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/nest_choices.h"
#include "expert/plan/past_caches.h"

namespace pragma::expert {
namespace {

void DeclareNumbers(NestContext& context) {
  const Nest& nest = context.nest;
  const bool folds =
      std::ranges::any_of(nest.phases, [&](const Phase& phase) { return HasFolds(nest, phase); });
  const bool parts =
      FoldsEverything(nest) || std::ranges::any_of(nest.phases, [&](const Phase& phase) {
        return !phase.outer && NeedsParts(nest, phase);
      });
  if (nest.LaneInside() && folds)
    context.numbers.chains =
        DeclareNumber(context, "CHAINS", NestNumbers::kUsualChains, {1, 2, 4, 8});
  if (SharesLaneOut(nest) || (parts && CutsLane(nest)) || SpreadCutsLane(nest))
    context.numbers.block =
        DeclareNumber(context, "BLOCK", NestNumbers::kUsualBlock, {1024, 4096, 16384});
}

void WriteNestCode(NestContext& context) {
  const Nest& nest = context.nest;
  if (nest.lane >= 0) context.needs.vectors = true;
  DeclareNumbers(context);
  if (FoldsEverything(nest)) return WriteSharedFold(context);
  if (const std::optional<Windows> windows = WindowsOf(context))
    return WriteWindows(context, *windows);
  if (nest.lane >= 0 && !nest.LaneInside()) return WriteColumns(context);
  if (const std::optional<Turned> turned = TurnedLoad(context))
    return WriteTurnedTiles(context, *turned);
  WriteRows(context);
}

}  // namespace

void EmitNest(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
              Writer& out) {
  const std::optional<HeldRows> held = HoldRows(program, nest, choices);
  NestContext context(held ? held->program : program, held ? held->nest : nest, choices, needs,
                      out);
  WriteNestCode(context);
}

}  // namespace pragma::expert
