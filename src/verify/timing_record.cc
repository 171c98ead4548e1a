#include "verify/timing_record.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "task/torch_server.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {

std::vector<std::string> NamesOf(const std::vector<Side>& sides, bool allocators) {
  std::vector<std::string> names;
  for (const Side& side : sides) {
    names.emplace_back(SideRoleName(side.role));
    if (side.is_torch() && allocators) {
      names.back() += fmt::format(" ({})", AllocatorName(side.allocator));
    }
  }
  return names;
}

void KeepSamples(Evaluation& evaluation, const std::string& session,
                 const std::vector<std::string>& names, const TimingOutcome& outcome) {
  std::erase_if(evaluation.samples, [&](const RawSamples& old) { return old.session == session; });
  for (std::size_t i = 0; i < names.size(); ++i) {
    evaluation.samples.push_back({.session = session,
                                  .side = names[i],
                                  .doorbell_us = outcome.sides[i].doorbell_us,
                                  .seconds = outcome.sides[i].seconds});
  }
}

Timing ToTiming(const SideTiming& side, int threads, const TimingPlan& plan) {
  const std::string bursts =
      plan.loop_seconds > 0
          ? fmt::format("paired loops of {:.0f} ms", plan.loop_seconds * 1e3)
          : fmt::format("paired bursts of {} calls after {} of warm-up", plan.timed, plan.warmup);
  return {.ms = side.Milliseconds(),
          .samples = side.samples,
          .processes = side.seconds.size(),
          .method = fmt::format("{}, {} in each of {} processes, 95 % t interval", bursts,
                                plan.loop_seconds > 0 ? fmt::format("{}", plan.bursts)
                                                      : fmt::format("{} bursts", plan.bursts),
                                side.seconds.size()),
          .threads = threads,
          .doorbell_us = side.doorbell_us};
}

}  // namespace pragma
