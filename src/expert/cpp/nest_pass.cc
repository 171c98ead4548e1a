#include "expert/cpp/nest_pass.h"

#include <cstddef>

#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/nest_limits.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

InnerPass::InnerPass(NestContext& context, NestFolds& folds, const Phase& phase, int deeper)
    : context_(context),
      folds_(folds),
      phase_(phase),
      loops_(InnerLoops(context.nest)),
      body_(context.out.depth() + static_cast<int>(loops_.size()) + deeper) {
  for (const std::size_t s : phase.steps) folds.Declare(context.nest.steps[s]);
  context.values.BeginPass(&context.out, &body_);
  limits_ = LimitsOf(context, phase);
  context.values.Assume(limits_.assumed);
  CountUses(context, phase);
  for (const std::size_t s : phase.steps) folds.WriteInside(context.nest.steps[s], body_);
}

void InnerPass::OpenLoops() {
  for (const std::size_t i : loops_) OpenInner(context_, i, limits_);
}

void InnerPass::Close() {
  CloseLoops(context_, loops_.size());
  context_.values.Assume({});
  Forget(context_, phase_);
  for (const std::size_t s : phase_.steps) folds_.Finish(context_.nest.steps[s]);
}

}  // namespace pragma::expert
