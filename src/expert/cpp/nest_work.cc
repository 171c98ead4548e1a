#include "expert/cpp/nest_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/task.h"
#include "expert/cpp/nest_context.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

constexpr double kWorthSharing = 3e4;  // number of instructions below which threads cost more than
                                       // they gain

bool IsWorthSharing(const Nest& nest) {
  double cost = 0;
  for (const Step& step : nest.steps)
    cost += (Cost(step.expr) + 1) * static_cast<double>(Elements(nest.shape));
  return cost / (nest.lane >= 0 ? 4 : 1) > kWorthSharing;
}

}  // namespace

bool FoldsEverything(const Nest& nest) {
  if (nest.OuterCount() != 1 || static_cast<double>(nest.InnerCount()) < kWorthSharing)
    return false;
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    const Step& step = nest.steps[s];
    if (nest.outer[s]) continue;
    if (step.kind != Step::Kind::kFold || IsPosition(step)) return false;
  }
  return std::ranges::count_if(nest.phases, [](const Phase& phase) { return !phase.outer; }) == 1;
}

SharedWork::SharedWork(NestContext& context, int loops)
    : context_(context),
      streams_(std::ranges::any_of(context.nest.steps,
                                   [&](const Step& step) { return Streams(context, step); })),
      parallel_(loops > 0 && context.choices.threads && IsWorthSharing(context.nest)) {
  // With stores past the caches, the loop is inside a parallel region, in which each thread also
  // does other work.
  const bool inside = parallel_ && streams_;
  if (inside) context.out.Line("#pragma omp parallel");
  if (inside || !context.nest.rows.empty()) context.out.Line("{");
  DeclareRows();
  if (!parallel_) return;
  context.needs.facts.shares_work = true;
  const std::string collapse = loops > 1 ? fmt::format(" collapse({})", loops) : "";
  context.out.Line(fmt::format("#pragma omp {}for{} schedule({})", inside ? "" : "parallel ",
                               collapse, context.choices.schedule));
}

void SharedWork::DeclareRows() {
  for (const int row : context_.nest.rows) {
    const Buffer& buffer = context_.program.buffers[static_cast<std::size_t>(row)];
    context_.out.Line(
        "// What a later pass reads again stays in the thread's cache, out of the output,");
    context_.out.Line("// which then is written once, past the caches.");
    context_.out.Line(fmt::format("alignas(64) {} {}[{}];", DTypeCppName(buffer.dtype), buffer.name,
                                  Elements(buffer.shape)));
  }
}

void SharedWork::Close() {
  if (!streams_) return;
  context_.needs.facts.streams = true;
  context_.out.Line("StreamEnd();");
  if (parallel_ || !context_.nest.rows.empty()) context_.out.Line("}");
}

}  // namespace pragma::expert
