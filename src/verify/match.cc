#include "verify/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/status.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "verify/comparator.h"
#include "verify/stage.h"
#include "verify/statistics.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

// Upper limit for a worker's doorbell round trip: median about 5 us, 99th percentile below 30 us.
constexpr double kMostDoorbellSeconds = 60e-6;

// Tolerances for CPU time. A candidate beyond them used more processors than allowed. The
// accounting is exact, and the clocks differ by very little.
constexpr double kProcessorsOver = 1.05;
constexpr double kAccountingSeconds = 60e-6;  // additional allowance per burst

// Limits for the first calls of a side that allocates its outputs. Outputs of a few MB are faulted
// in again in each of the first six calls, or the first three calls of eager.
constexpr int kSettlingCalls = 8;
constexpr Nanoseconds kSettlingTime{50'000'000};

}  // namespace

Match::Match(const TimingContext& context, const std::vector<Side>& sides, const TimingPlan& plan,
             Rng& rng)
    : context_(context), sides_(sides), plan_(plan), rng_(rng) {
  outcome_.sides.resize(sides.size());
}

Result<void> Match::StartAll() {
  players_.clear();
  for (SideTiming& side : outcome_.sides) side.seconds.emplace_back();
  players_.resize(sides_.size());
  // Every process is started before any is loaded, so that they start in parallel.
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    players_[i] = TRY(Start(sides_[i]));
  }
  for (std::size_t i = 0; i < sides_.size() && !failed(); ++i) TRY(MakeReady(i));
  return {};
}

Result<Player> Match::Start(const Side& side) {
  Player player;
  if (side.kernel == nullptr) {
    player.timer = TRY(TimerProcess::Start(stage().server(), stage().ring(), plan_.sets(),
                                           side.mode, side.allocator));
  } else {
    player.worker = TRY(WorkerProcess::Start(*context_.jail, *context_.libraries, *side.kernel,
                                             stage().task(), stage().ring(), context_.worker));
  }
  return player;
}

// Loads the process and makes its first calls. These fault pages in, start threads and settle the
// allocator.
Result<void> Match::MakeReady(std::size_t index) {
  Player& player = players_[index];
  if (player.timer) {
    TRY(player.timer->Load(context_.torch_limit));
  } else if (TRY(Note(index, player.worker->Load()))) {
    return {};
  }
  if (plan_.warmup > 0) {
    const std::vector<std::uint32_t> sets{static_cast<std::uint32_t>(rng_.Below(plan_.sets()))};
    if (player.worker) player.worker->Poison(rng_, sets);
    if (TRY(Prepare(index, sets)) || TRY(PlayFirst(index, sets))) return {};
  }
  TRY(Freeze(index));
  return {};
}

// Makes the first calls. A Torch side allocates its outputs in each call. Only freed blocks teach
// malloc to keep memory, and until then every page of the outputs is faulted in again.
Result<bool> Match::PlayFirst(std::size_t index, std::span<const std::uint32_t> sets) {
  const Side& side = sides_[index];
  const bool allocates = side.kernel == nullptr || side.kernel->python != nullptr;
  Nanoseconds all{0};
  for (int call = 0; call < (allocates ? kSettlingCalls : 1) && all < kSettlingTime; ++call) {
    Nanoseconds elapsed{0};
    if (TRY(Play(index, sets, &elapsed))) return true;
    all += elapsed;
  }
  return false;
}

std::vector<std::uint32_t> Match::ShuffledSets() {
  std::vector<std::uint32_t> sets(plan_.sets());
  std::iota(sets.begin(), sets.end(), 0U);
  Shuffle(sets, rng_);
  return sets;
}

Result<void> Match::RunBurst() {
  const std::vector<std::uint32_t> sets = ShuffledSets();
  // Makes the fresh sets and their expected values now, because pragma's own code must not run
  // while a side is timed.
  for (const std::uint32_t set : sets) TRY(stage().RenewSet(set, rng_));
  std::vector<std::size_t> order(sides_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Shuffle(order, rng_);
  for (const std::size_t side : order) {
    TRY(TimeSide(side, sets));
    if (failed()) return {};
  }
  return {};
}

// CPU time is read only while the threads are stopped. The operating system's figure for running
// threads of another process may be a timer tick old.
Result<void> Match::TimeSide(std::size_t index, const std::vector<std::uint32_t>& sets) {
  Player& player = players_[index];
  if (player.worker) player.worker->Poison(rng_, sets);
  stage().Warm(sets);
  if (TRY(PrepareFrozen(index, sets))) return {};
  const std::span<const std::uint32_t> warmup = std::span(sets).first(plan_.warmup);
  const std::span<const std::uint32_t> timed = std::span(sets).subspan(plan_.warmup);
  const Seconds before = player.peer().CpuTime();
  const TimePoint opened = std::chrono::steady_clock::now();
  TRY(player.Wake());
  Nanoseconds elapsed{0};
  if (!warmup.empty() && TRY(Play(index, warmup, &elapsed))) return {};
  // The empty burst runs right before the timed one, so that the threads and the processor are in
  // the same state.
  if (TRY(PlayEmpty(index, timed, &elapsed))) return {};
  player.empty.push_back(Seconds(elapsed).count());
  if (TRY(Play(index, timed, &elapsed))) return {};
  player.bursts.push_back(Seconds(elapsed).count());
  if (TRY(Freeze(index))) return {};
  player.processor_seconds += (player.peer().CpuTime() - before).count();
  player.accounted_seconds += Since(opened).count();
  return player.worker ? CheckOutputs(index, sets) : Result<void>();
}

// Prepares the sets and stops the process again. This work is not part of the accounting.
Result<bool> Match::PrepareFrozen(std::size_t index, std::span<const std::uint32_t> sets) {
  if (sides_[index].kernel == nullptr || !sides_[index].kernel->has_prepare) return false;
  TRY(players_[index].Wake());
  if (TRY(Prepare(index, sets))) return true;
  return Freeze(index);
}

void Match::Settle() {
  for (std::size_t i = 0; i < players_.size(); ++i) SettleOne(players_[i], outcome_.sides[i]);
}

void Match::SettleOne(const Player& player, SideTiming& side) const {
  if (player.bursts.empty()) return;
  // A candidate can make its own empty round trips slow.
  const double doorbell =
      player.worker ? std::min(Median(player.empty), kMostDoorbellSeconds) : Median(player.empty);
  side.Add(player.bursts, doorbell, plan_.timed);
  side.accounted_seconds += player.accounted_seconds;
  side.processor_seconds += player.processor_seconds;
}

void Match::CheckProcessors() {
  for (std::size_t i = 0; i < players_.size() && !failed(); ++i) CheckProcessorsOf(i);
}

// Checks that the kernel's threads used no more than its share of processors. What they use beyond
// it would not be available in real use, and the baseline does not have it either. Where the share
// is the whole machine, nothing is beyond it.
void Match::CheckProcessorsOf(std::size_t index) {
  const Player& player = players_[index];
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  if (!player.worker || context_.worker.threads >= processors) return;
  const double wall = player.accounted_seconds;
  const double allowed = context_.worker.threads * wall * kProcessorsOver +
                         kAccountingSeconds * static_cast<double>(player.bursts.size());
  if (player.processor_seconds <= allowed) return;
  Fault(index, {.status = Status::kImplausible,
                .reason = fmt::format("it kept {:.1f} processors busy while it was timed; {} "
                                      "allowed: use no more threads than OMP_NUM_THREADS",
                                      player.processor_seconds / wall, context_.worker.threads)});
}

Result<void> Match::CheckOutputs(std::size_t index, std::span<const std::uint32_t> sets) {
  const WorkerProcess& worker = *players_[index].worker;
  for (const std::uint32_t set : sets) {
    if (const auto broken = worker.BrokenGuard(set)) {
      Fault(index, {.status = Status::kCrashed, .reason = "wrote outside its output " + *broken});
      return {};
    }
    Comparison compared = stage().CompareSlot(worker, set);
    if (!compared.ok) {
      compared = TRY(stage().SecondOpinion(worker, set, stage().Tolerances(set), rng_));
    }
    if (!compared.ok) {
      Fault(index,
            {.status = Status::kImplausible,
             .reason = "right when it was checked, wrong while it was timed: " + compared.reason});
      outcome_.failed->error = compared.error;
      return {};
    }
  }
  return {};
}

Result<bool> Match::Freeze(std::size_t index) {
  Player& player = players_[index];
  if (player.worker) return Note(index, player.worker->Freeze());
  TRY(player.timer->peer().Freeze());
  return false;
}

Result<bool> Match::Prepare(std::size_t index, std::span<const std::uint32_t> sets) {
  if (sides_[index].kernel == nullptr || !sides_[index].kernel->has_prepare) return false;
  return Note(index, players_[index].worker->Prepare(sets, nullptr));
}

Result<bool> Match::Play(std::size_t index, std::span<const std::uint32_t> sets,
                         Nanoseconds* elapsed) {
  Player& player = players_[index];
  if (player.worker) return Note(index, player.worker->Run(sets, elapsed));
  *elapsed = TRY(player.timer->Run(sets, context_.torch_limit));
  return false;
}

Result<bool> Match::PlayEmpty(std::size_t index, std::span<const std::uint32_t> sets,
                              Nanoseconds* elapsed) {
  Player& player = players_[index];
  if (player.worker) return Note(index, player.worker->RunEmpty(sets, elapsed));
  *elapsed = TRY(player.timer->RunEmpty(sets, context_.torch_limit));
  return false;
}

Result<bool> Match::Note(std::size_t index, Result<std::optional<WorkerFailure>> result) {
  std::optional<WorkerFailure> failure = TRY(std::move(result));
  if (!failure) return false;
  Fault(index, std::move(*failure));
  return true;
}

void Match::Fault(std::size_t index, WorkerFailure failure) {
  outcome_.failed = TimingFailure{.side = index, .failure = std::move(failure), .error = {}};
}

}  // namespace pragma
