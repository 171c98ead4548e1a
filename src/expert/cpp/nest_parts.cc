#include "expert/cpp/nest_parts.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kLongFold = 1 << 14;

std::vector<const Step*> FoldsOf(const Nest& nest, const Phase& phase) {
  std::vector<const Step*> folds;
  for (const std::size_t s : phase.steps)
    if (nest.steps[s].kind == Step::Kind::kFold) folds.push_back(&nest.steps[s]);
  return folds;
}

std::size_t FirstInner(const Nest& nest) {
  std::size_t first = 0;
  while (!nest.inner[first]) ++first;
  return first;
}

// Opens the loop over parts: the first inner dimension, or blocks of the only one.
LaneRange OpenParts(NestContext& context) {
  const std::size_t first = FirstInner(context.nest);
  if (CutsLane(context.nest)) return OpenBlocks(context, context.nest.shape[first]);
  OpenLoop(context, first);
  return {};
}

// Writes the elements of one part.
void WriteElements(NestContext& context, NestFolds& folds, const Phase& phase,
                   const LaneRange& range) {
  const Nest& nest = context.nest;
  Writer body(context.out.depth() + 1);
  context.values.BeginPass(&body, &body);
  CountUses(context, phase);
  for (const std::size_t s : phase.steps) folds.WriteInside(nest.steps[s], body);
  std::vector<std::size_t> loops = InnerLoops(nest);
  if (!CutsLane(nest)) std::erase(loops, FirstInner(nest));
  for (const std::size_t i : loops) OpenLoop(context, i);
  if (nest.LaneInside())
    OpenLanes(context, context.numbers.chains, range.from,
              range.to.empty() ? std::to_string(LaneCount(nest)) : range.to, "int u");
  context.out.Append(body);
  if (nest.LaneInside()) context.out.Line("});");
  CloseLoops(context, loops.size());
}

}  // namespace

bool NeedsParts(const Nest& nest, const Phase& phase) { return SumsOver(nest, phase, kLongFold); }

bool CutsLane(const Nest& nest) { return static_cast<int>(FirstInner(nest)) == nest.lane; }

void WriteSharedFold(NestContext& context) {
  NestFolds folds(context);
  WriteInParts(context, folds, context.nest.phases[0], context.choices.threads);
  for (std::size_t p = 1; p < context.nest.phases.size(); ++p)
    WriteOnce(context, context.nest.phases[p]);
}

void WriteInParts(NestContext& context, NestFolds& folds, const Phase& phase, bool parallel) {
  const std::vector<const Step*> steps = FoldsOf(context.nest, phase);
  std::map<int, std::string> totals;
  std::string clauses;
  for (const Step* step : steps) {
    totals[step->buffer] = folds.Name(*step);
    context.out.Line(DeclareShared(folds.FormOf(*step)));
    clauses +=
        fmt::format(" reduction({} : {})", ReductionClause(step->fold), totals[step->buffer]);
  }
  if (parallel) {
    context.needs.facts.shares_work = true;
    context.out.Line("#pragma omp parallel for" + clauses + " schedule(static)");
  }
  const LaneRange range = OpenParts(context);
  for (const Step* step : steps) {
    folds.Name(*step, "_part");
    folds.WriteDeclaration(folds.FormOf(*step));
  }
  WriteElements(context, folds, phase, range);
  for (const Step* step : steps) {
    const FoldForm form = folds.FormOf(*step);
    if (form.vector) context.needs.pieces.insert(VectorPiece::kLanes);
    context.out.Line(AddToShared(form, totals[step->buffer], FoldResult(form)));
  }
  context.out.Line("}");
  Forget(context, phase);
  for (const Step* step : steps) folds.FinishTotal(*step, totals[step->buffer]);
}

LaneRange OpenBlocks(NestContext& context, std::int64_t size) {
  const std::string& block = context.numbers.block;
  context.out.Line(
      fmt::format("for (std::int64_t begin = 0; begin < {}; begin += {}) {{", size, block));
  return {"begin", fmt::format("(begin + {0} < {1} ? begin + {0} : {1})", block, size)};
}

}  // namespace pragma::expert
