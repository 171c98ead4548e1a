#include "expert/cpp/row_pass.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expert/cpp/nest_ahead.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/nest_parts.h"
#include "expert/cpp/nest_pass.h"
#include "expert/cpp/nest_spread.h"
#include "expert/cpp/nest_work.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kFewOuter = 16;  // with fewer outer iterations than this, work is divided in
                                        // blocks

// Returns whether the nest maps single elements. There is then no pass before which code could be
// placed.
bool NothingInside(const Nest& nest) { return nest.lane < 0 && nest.InnerCount() == 1; }

void WriteRowPhases(NestContext& context, const LaneRange& range) {
  const Nest& nest = context.nest;
  NestFolds folds(context);
  for (std::size_t p = 0; p < nest.phases.size(); ++p) {
    const Phase& phase = nest.phases[p];
    if (const std::optional<Spread> spread = SpreadAt(nest, p)) {
      WriteSpread(context, folds, phase, *spread);
      ++p;
    } else if (phase.outer || NothingInside(nest)) {
      WriteOnce(context, phase);
    } else {
      WriteRowPass(context, folds, phase, range);
    }
  }
}

// Opens the loop along the lanes of a pass.
void OpenRow(NestContext& context, const Phase& phase, const LaneRange& range) {
  const bool folds = HasFolds(context.nest, phase);
  const bool asks = AsksForOwn(context, phase);
  const std::string_view chains = folds  ? std::string_view(context.numbers.chains)
                                  : asks ? "kLineParts"
                                         : "1";
  const std::string to = range.to.empty() ? std::to_string(LaneCount(context.nest)) : range.to;
  OpenLanes(context, chains, range.from, to, folds || asks ? "int u" : "int");
}

}  // namespace

bool SharesLaneOut(const Nest& nest) {
  if (nest.lane < 0 || nest.phases.size() != 1 || nest.OuterCount() >= kFewOuter) return false;
  const bool maps = std::ranges::all_of(
      nest.steps, [](const Step& step) { return step.kind == Step::Kind::kMap; });
  return maps && LaneCount(nest) >= 2 * NestNumbers::kUsualBlock;
}

void WriteRows(NestContext& context) {
  const Nest& nest = context.nest;
  const std::vector<std::size_t> outer = OuterLoops(nest);
  const bool blocks = SharesLaneOut(nest);
  for (const Phase& phase : nest.phases) DeclareOwnAhead(context, phase);
  SharedWork work(context, static_cast<int>(outer.size()) + (blocks ? 1 : 0));
  for (const std::size_t i : outer) OpenLoop(context, i);
  LaneRange range;
  if (blocks) {
    range = OpenBlocks(context, LaneCount(nest));
  } else if (outer.empty()) {
    context.out.Line("{");
  }
  WriteRowPhases(context, range);
  CloseLoops(context, outer.size() + (blocks || outer.empty() ? 1 : 0));
  work.Close();
}

void WriteRowPass(NestContext& context, NestFolds& folds, const Phase& phase,
                  const LaneRange& range) {
  const Nest& nest = context.nest;
  if (NeedsParts(nest, phase)) return WriteInParts(context, folds, phase, false);
  InnerPass pass(context, folds, phase, nest.LaneInside() ? 1 : 0);
  WriteAhead(context, phase, pass.body());
  WriteOwnAhead(context, phase, pass.body());
  pass.OpenLoops();
  if (nest.LaneInside()) OpenRow(context, phase, range);
  context.out.Append(pass.body());
  if (nest.LaneInside()) context.out.Line("});");
  pass.Close();
}

}  // namespace pragma::expert
