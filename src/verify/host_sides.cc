#include "verify/host_sides.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "harness/timed_process.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "task/torch_server.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"

namespace pragma {
namespace {

// Limits for the first calls of a side that allocates its outputs. Outputs of a few MB are faulted
// in again in each of the first six calls, or the first three calls of eager.
constexpr int kSettlingCalls = 8;
constexpr Nanoseconds kSettlingTime{50'000'000};

}  // namespace

Result<std::optional<TimingFailure>> HostSides::StartRound(const TimingPlan& plan, Rng& rng) {
  processes_.clear();
  // Every process is started before any is loaded, so that they start in parallel.
  for (const Side& side : sides_) processes_.push_back(TRY(Start(side, plan)));
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    ProcessFailure failure = TRY(MakeReady(i, plan, rng));
    if (failure) return TimingFailure{.side = i, .failure = std::move(*failure), .error = {}};
  }
  return std::optional<TimingFailure>();
}

Result<std::unique_ptr<TimedProcess>> HostSides::Start(const Side& side, const TimingPlan& plan) {
  Stage& stage = parts_.stage;
  if (!side.is_torch()) {
    WorkerOptions options = parts_.worker;
    options.as_call = side.as_call;
    options.allocator = side.allocator;
    return std::make_unique<WorkerProcess>(TRY(WorkerProcess::Start(
        parts_.jail, parts_.libraries, *side.kernel, stage.task(), stage.ring(), options)));
  }
  const TimerMode mode = side.role == SideRole::kCompile ? TimerMode::kCompile : TimerMode::kEager;
  return std::make_unique<TimerProcess>(TRY(TimerProcess::Start(
      stage.server(), stage.ring(),
      {.mode = mode, .allocator = side.allocator, .sets = plan.sets(), .as_call = side.as_call})));
}

// Loads the process and makes its first calls. These fault pages in, start threads and settle the
// allocator.
Result<ProcessFailure> HostSides::MakeReady(std::size_t index, const TimingPlan& plan, Rng& rng) {
  TimedProcess& process = *processes_[index];
  if (ProcessFailure failure = TRY(process.Load())) return failure;
  if (plan.first_calls) {
    const std::vector<std::uint32_t> sets{static_cast<std::uint32_t>(rng.Below(plan.sets()))};
    process.Poison(rng, sets);
    if (ProcessFailure failure = TRY(FirstCalls(index, sets))) return failure;
  }
  return process.Freeze();
}

// A Torch side allocates its outputs in each call. Only freed blocks teach malloc to keep memory,
// and until then every page of the outputs is faulted in again.
Result<ProcessFailure> HostSides::FirstCalls(std::size_t index,
                                             std::span<const std::uint32_t> sets) {
  const Side& side = sides_[index];
  TimedProcess& process = *processes_[index];
  Nanoseconds elapsed{0};
  if (side.prepares()) {
    if (ProcessFailure failure = TRY(process.Prepare(sets, &elapsed))) return failure;
  }
  const bool allocates = side.is_torch() || side.kernel->python != nullptr;
  Nanoseconds all{0};
  for (int call = 0; call < (allocates ? kSettlingCalls : 1) && all < kSettlingTime; ++call) {
    if (ProcessFailure failure = TRY(process.Run(sets, &elapsed))) return failure;
    all += elapsed;
  }
  return ProcessFailure();
}

}  // namespace pragma
