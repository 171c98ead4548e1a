#include "verify/timing_plan.h"

#include <algorithm>
#include <cstddef>

#include "base/clock.h"

namespace pragma {
namespace {

// Numbers of processes. Calls that take microseconds differ by several per cent from one process to
// the next (placement of pages and threads), and their processes are cheap.
constexpr int kProcesses = 5;
constexpr int kProcessesOfShort = 10;
constexpr double kShortRoundSeconds = 1e-3;

constexpr double kMaxBursts = 12;
// The minimum guards against a disturbance in one burst. It applies to rounds no longer than this.
constexpr double kMinBursts = 3;
constexpr double kRepeatedRoundSeconds = 0.1;

// A round longer than the first figure needs no warm-up of its own, because nothing that a switch
// disturbs lasts that long. A round longer than the second needs a single warm-up call.
constexpr double kLongRoundSeconds = 0.25;
constexpr double kMiddlingRoundSeconds = 2e-3;
// A process makes its first calls untimed: memory is faulted in, and libraries choose their
// kernels. Of a call of 0.35 s that can be as much again. Only rounds longer than this go without.
constexpr double kLongestFirstRound = 10;
constexpr std::size_t kFewSets = 6;

// The doorbell's cost varies by microseconds, so a burst should last this long if the ring has
// enough sets. Beyond that, more bursts are worth more than longer ones.
constexpr double kBurstSeconds = 0.5e-3;
// The same on a device. Launches overlap with earlier ones, so the first one's latency is a part of
// the burst and of no other call: up to 0.3 ms for a Triton module in a process that was frozen
// (the interpreter, the tuner, the memory of descriptors), 0.05 ms for an operator of Torch. In
// bursts of five calls of 0.19 ms, a product as fast as Torch's looked 1.3 times as slow.
constexpr double kDeviceBurstSeconds = 5e-3;
// So a few long bursts are better there than many short ones.
constexpr double kFewestDeviceBursts = 2;
// Short rounds have at least this many timed calls. With a burst of three, a kernel that computes
// them at once on two processors gains too little for the audit of work done ahead to see.
constexpr double kFewestShortCalls = 4;
// Time of each burst besides its calls: thaw, freeze and three doorbell round trips on every side.
constexpr double kSwitchSeconds = 2e-3;
// A loop of a user is warm: its code, objects and arguments are in the caches, threads are awake,
// and malloc returns the block that was just freed. So it lasts for long on each side, and is
// warmed up for about as long.
constexpr double kLoopSeconds = 10e-3;
constexpr double kShortestCallSeconds = 1e-6;

std::size_t WarmupCalls(const Workload& workload) {
  if (workload.round_seconds > kLongRoundSeconds || workload.sets == 1) return 0;
  return workload.round_seconds > kMiddlingRoundSeconds || workload.sets < kFewSets ? 1 : 2;
}

// A burst of the only set is warmed up by that set, so no call before it is a first one.
bool FirstCalls(const Workload& workload) {
  return workload.sets > 1 && workload.round_seconds <= kLongestFirstRound;
}

int Processes(const Workload& workload) {
  const bool many = workload.round_seconds <= kShortRoundSeconds && !workload.on_device;
  return many ? kProcessesOfShort : kProcesses;
}

int Bursts(double burst_seconds, double process_seconds, const Workload& workload) {
  const double repeated = workload.on_device ? kFewestDeviceBursts : kMinBursts;
  const double fewest = workload.round_seconds <= kRepeatedRoundSeconds ? repeated : 1;
  return static_cast<int>(std::clamp(process_seconds / burst_seconds, fewest, kMaxBursts));
}

TimingPlan MakeCallPlan(const Workload& workload, Seconds budget) {
  const double round = std::max(workload.round_seconds, kShortestCallSeconds);
  TimingPlan plan;
  plan.processes = Processes(workload);
  plan.warmup = std::min<std::size_t>(1, WarmupCalls(workload));
  plan.first_calls = FirstCalls(workload);
  plan.loop_seconds = kLoopSeconds;
  plan.call_seconds = round / 2;
  // Two sides are warmed up for as long as they are timed, with a call at least.
  const double burst = 2 * std::max(2 * kLoopSeconds, 1.5 * round) +
                       static_cast<double>(plan.sets()) * workload.upkeep_seconds;
  plan.bursts = Bursts(burst + kSwitchSeconds, budget.count() / plan.processes, workload);
  return plan;
}

}  // namespace

TimingPlan MakePlan(const Workload& workload, Seconds budget) {
  if (workload.as_call) return MakeCallPlan(workload, budget);
  const double round = workload.round_seconds;
  TimingPlan plan;
  plan.processes = Processes(workload);
  plan.warmup = WarmupCalls(workload);
  plan.first_calls = FirstCalls(workload);
  const double per_process = budget.count() / plan.processes;
  const double per_call = std::max(round + workload.upkeep_seconds, kShortestCallSeconds);
  // One side's call takes half of the round or more. If the largest number of bursts does not use
  // up the budget, bursts become longer.
  const double most =
      (per_process / kMaxBursts - kSwitchSeconds) / per_call - static_cast<double>(plan.warmup);
  const double burst_seconds = workload.on_device ? kDeviceBurstSeconds : kBurstSeconds;
  const double least = round <= kShortRoundSeconds ? kFewestShortCalls : 1;
  const double wished =
      std::max({burst_seconds / std::max(round / 2, kShortestCallSeconds), most, least});
  const double affordable = per_process / per_call / 2;
  const std::size_t room = round > kLongRoundSeconds ? 1 : workload.sets - plan.warmup;
  plan.timed = static_cast<std::size_t>(
      std::clamp(std::min(wished, affordable), 1.0, static_cast<double>(room)));
  if (workload.cache == CacheState::kCold) plan.timed = workload.sets - plan.warmup;
  const double burst = static_cast<double>(plan.sets()) * per_call + kSwitchSeconds;
  plan.bursts = Bursts(burst, per_process, workload);
  return plan;
}

}  // namespace pragma
