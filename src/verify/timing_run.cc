#include "verify/timing_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/statistics.h"
#include "core/status.h"
#include "harness/timed_process.h"
#include "values/comparator.h"
#include "verify/input_sets.h"
#include "verify/noise.h"
#include "verify/timed_sides.h"
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

// A process pair with fewer undisturbed bursts than this, where more are planned, is disturbed as a
// whole.
constexpr int kFewestBursts = 3;

// The number of calls in a loop varies by this part of it in both directions.
constexpr double kSpreadOfLoop = 0.25;
constexpr double kMostCallsOfLoop = 1 << 20;
// Parts of a loop that come before it: for the separate set, whose last result is compared too, and
// for the timed set.
constexpr double kWarmUpOfLoop = 0.25;
constexpr double kLoopBefore = 0.75;

// How often the load is read before a burst counts as disturbed.
constexpr int kLooks = 3;
constexpr Seconds kBetweenLooks{100e-6};

}  // namespace

TimingRun::TimingRun(const TimingScene& scene, const TimingPlan& plan, Rng& rng)
    : scene_(scene), plan_(plan), rng_(rng) {
  outcome_.sides.resize(scene.sides.sides().size());
}

Result<void> TimingRun::RunRound() {
  TRY(StartRound());
  for (int burst = 0; burst < plan_.bursts + UndisturbedBursts() && !failed(); ++burst) {
    if (UndisturbedBursts() == plan_.bursts) break;
    TRY(RunBurst());
  }
  Settle();
  CheckProcessors();
  return failed() ? Result<void>() : scene_.sides.EndRound();
}

Result<void> TimingRun::StartRound() {
  for (SideTiming& side : outcome_.sides) side.seconds.emplace_back();
  tallies_.assign(outcome_.sides.size(), {});
  disturbed_.clear();
  outcome_.failed = TRY(scene_.sides.StartRound(plan_, rng_));
  return {};
}

std::vector<std::uint32_t> TimingRun::ShuffledSets() {
  std::vector<std::uint32_t> sets(plan_.sets());
  std::iota(sets.begin(), sets.end(), 0U);
  Shuffle(sets, rng_);
  return sets;
}

std::vector<std::size_t> TimingRun::ShuffledSides() {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < outcome_.sides.size(); ++i) {
    if (scene_.sides.LeftOut(i).empty()) order.push_back(i);
  }
  Shuffle(order, rng_);
  return order;
}

Result<void> TimingRun::RunBurst() {
  const std::vector<std::uint32_t> sets = ShuffledSets();
  disturbed_.push_back(false);
  // Makes the fresh sets and their expected values now, because pragma's own code must not run
  // while a side is timed.
  TRY(scene_.sets.RenewSets(sets, rng_));
  for (const std::size_t side : ShuffledSides()) {
    TRY(TimeSide(side, sets));
    if (failed()) return {};
  }
  return {};
}

BurstSets TimingRun::Split(std::span<const std::uint32_t> sets) const {
  if (scene_.sets.sets() == 1) return {.all = sets, .warmup = sets, .timed = sets};
  return {.all = sets, .warmup = sets.first(plan_.warmup), .timed = sets.subspan(plan_.warmup)};
}

// CPU time is read only while the threads are stopped. The operating system's figure for running
// threads of another process may be a timer tick old.
Result<void> TimingRun::TimeSide(std::size_t index, std::span<const std::uint32_t> sets) {
  TimedProcess& timed = process(index);
  const BurstSets burst = Split(sets);
  timed.Poison(rng_, sets);
  TRY(scene_.sets.BeforeWarmup(timed, burst, rng_));
  if (TRY(PrepareFrozen(index, sets))) return {};
  const LoadReading load_before = ReadLoad();
  const Seconds before = timed.CpuTime();
  const TimePoint opened = scene_.clock.Now();
  if (TRY(TimeBurst(index, burst))) return {};
  Tally& tally = tallies_[index];
  const double processor_seconds = (timed.CpuTime() - before).count();
  const double accounted_seconds = Seconds(scene_.clock.Now() - opened).count();
  tally.processor_seconds += processor_seconds;
  tally.accounted_seconds += accounted_seconds;
  NoteLoad({.before = load_before,
            .after = ReadLoad(),
            .seconds = accounted_seconds,
            .side_seconds = processor_seconds});
  return side(index).is_torch() ? Result<void>() : CheckOutputs(index, sets);
}

Result<bool> TimingRun::WarmUp(std::size_t index, std::span<const std::uint32_t> sets) {
  if (sets.empty()) return false;
  if (plan_.loop_seconds > 0) {
    TimedBurst unused;
    if (TRY(Loop(index, sets.front(), kWarmUpOfLoop, &unused))) return true;
    return Note(index, process(index).Deliver(sets.front()));
  }
  Nanoseconds elapsed{0};
  return Play(index, sets, &elapsed);
}

// Threads of the kernel and daemons run for some microseconds, many times a second. Who still wants
// a processor at the third look works.
LoadReading TimingRun::ReadLoad() const {
  if (!scene_.noise.read) return {};
  LoadReading reading = scene_.noise.read();
  for (int look = 1; look < kLooks && reading.runnable > scene_.spare_processors(); ++look) {
    scene_.clock.SleepFor(kBetweenLooks);
    reading.runnable = std::min(reading.runnable, scene_.noise.read().runnable);
  }
  return reading;
}

void TimingRun::NoteLoad(const Watched& watched) {
  if (!scene_.noise.read) return;
  load_.Add(watched);
  if (Disturbed(watched, scene_.spare_processors())) disturbed_.back() = true;
}

int TimingRun::UndisturbedBursts() const {
  return static_cast<int>(std::ranges::count(disturbed_, false));
}

bool TimingRun::DisturbedRound() const {
  return UndisturbedBursts() < std::min(plan_.bursts, kFewestBursts);
}

// Returns the bursts that count: those that were not disturbed, if there are enough of them.
template <typename T>
std::vector<T> TimingRun::Counting(const std::vector<T>& bursts) const {
  if (DisturbedRound()) return bursts;
  std::vector<T> counting;
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    if (!disturbed_.at(i)) counting.push_back(bursts[i]);
  }
  return counting;
}

// Wakes the process for one burst and stops it again.
Result<bool> TimingRun::TimeBurst(std::size_t index, const BurstSets& burst) {
  TimedProcess& timed = process(index);
  Nanoseconds elapsed{0};
  TRY(timed.Thaw());
  if (TRY(WarmUp(index, burst.warmup))) return true;
  TRY(scene_.sets.AfterWarmup(timed, burst, rng_));
  if (TRY(Note(index, timed.Wake()))) return true;
  TimedBurst warm;
  if (plan_.loop_seconds > 0 && !burst.warmup.empty() &&
      TRY(Loop(index, burst.timed.front(), kLoopBefore, &warm)))
    return true;
  const std::uint64_t faults = timed.PageFaults();
  // The empty burst runs right before the timed one, so that the threads and the processor are in
  // the same state.
  if (TRY(PlayEmpty(index, burst.timed, &elapsed))) return true;
  Tally& tally = tallies_[index];
  tally.empty.push_back(Seconds(elapsed).count());
  if (TRY(PlayTimed(index, burst.timed, &tally.bursts.emplace_back()))) return true;
  tally.page_faults.push_back(static_cast<double>(timed.PageFaults() - faults));
  if (TRY(Note(index, timed.Deliver(burst.timed.front())))) return true;
  return Freeze(index);
}

// Prepares the sets and stops the process again. This work is not part of the accounting.
Result<bool> TimingRun::PrepareFrozen(std::size_t index, std::span<const std::uint32_t> sets) {
  if (!side(index).prepares()) return false;
  TRY(process(index).Thaw());
  if (TRY(Prepare(index, sets))) return true;
  return Freeze(index);
}

double TimingRun::MostDoorbell() const {
  if (scene_.doorbell == DoorbellLimit::kRoundTrip) return kMostDoorbellSeconds;
  double most = 0;
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    const std::vector<double>& empty = tallies_[i].empty;
    if (side(i).is_torch() && !empty.empty()) most = std::max(most, Median(empty));
  }
  return most;
}

void TimingRun::Settle() {
  const double most = MostDoorbell();
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    const Tally& tally = tallies_[i];
    if (tally.bursts.empty()) continue;
    const double rounds = Median(tally.empty);
    SideTiming& settled = outcome_.sides[i];
    settled.Add(Counting(tally.bursts), side(i).is_torch() ? rounds : std::min(rounds, most));
    settled.accounted_seconds += tally.accounted_seconds;
    settled.processor_seconds += tally.processor_seconds;
    for (const double faults : Counting(tally.page_faults)) settled.page_faults += faults;
  }
  outcome_.disturbed.push_back(DisturbedRound());
  load_.EndRound(disturbed_);
  outcome_.load = load_.Mean(scene_.processors.available);
}

void TimingRun::CheckProcessors() {
  for (std::size_t i = 0; i < tallies_.size() && !failed(); ++i) CheckProcessorsOf(i);
}

// Checks that the kernel's threads used no more than its share of processors. What they use beyond
// it would not be available in real use, and the baseline does not have it either. Where the share
// is the whole machine, nothing is beyond it.
void TimingRun::CheckProcessorsOf(std::size_t index) {
  const auto [share, available] = scene_.processors;
  if (side(index).is_torch() || share >= available) return;
  const Tally& tally = tallies_[index];
  const double wall = tally.accounted_seconds;
  const double allowed = share * wall * kProcessorsOver +
                         kAccountingSeconds * static_cast<double>(tally.bursts.size());
  if (tally.processor_seconds <= allowed) return;
  Fault(index, {.status = Status::kImplausible,
                .reason = fmt::format("it kept {:.1f} processors busy while it was timed; {} "
                                      "allowed: use no more threads than OMP_NUM_THREADS",
                                      tally.processor_seconds / wall, share)});
}

Result<void> TimingRun::CheckOutputs(std::size_t index, std::span<const std::uint32_t> sets) {
  const TimedProcess& timed = process(index);
  TRY(scene_.sets.LookAt(timed, sets));
  for (const std::uint32_t set : sets) {
    if (const Damage damage = scene_.sets.DamageIn(timed, set); damage.any()) {
      Fault(index, {.status = Status::kCrashed, .reason = "wrote " + damage.What()});
      return {};
    }
    Comparison compared = scene_.sets.Compare(timed, set, scene_.sets.Tolerances(set));
    if (!compared.ok) {
      compared = TRY(scene_.sets.SecondOpinion(timed, set, scene_.sets.Tolerances(set), rng_));
    }
    if (compared.ok) continue;
    Fault(index,
          {.status = Status::kImplausible,
           .reason = "right when it was checked, wrong while it was timed: " + compared.reason});
    outcome_.failed->error = compared.error;
    return {};
  }
  return {};
}

Result<bool> TimingRun::Freeze(std::size_t index) { return Note(index, process(index).Freeze()); }

Result<bool> TimingRun::Prepare(std::size_t index, std::span<const std::uint32_t> sets) {
  if (!side(index).prepares()) return false;
  Nanoseconds elapsed{0};
  return Note(index, process(index).Prepare(sets, &elapsed));
}

Result<bool> TimingRun::Play(std::size_t index, std::span<const std::uint32_t> sets,
                             Nanoseconds* elapsed) {
  return Note(index, process(index).Run(sets, elapsed));
}

Result<bool> TimingRun::PlayTimed(std::size_t index, std::span<const std::uint32_t> sets,
                                  TimedBurst* burst) {
  if (plan_.loop_seconds > 0) return Loop(index, sets.front(), 1, burst);
  Nanoseconds elapsed{0};
  if (TRY(Play(index, sets, &elapsed))) return true;
  *burst = {.seconds = Seconds(elapsed).count(), .calls = sets.size()};
  return false;
}

// Only what the last call of a loop returned is compared. No call can know that it is the last one,
// because their number is random.
Result<bool> TimingRun::Loop(std::size_t index, std::uint32_t set, double part, TimedBurst* burst) {
  double& call_seconds = tallies_[index].call_seconds;
  if (call_seconds == 0) call_seconds = plan_.call_seconds;
  const double random = 1 - kSpreadOfLoop + 2 * kSpreadOfLoop * rng_.Uniform();
  const double calls = part * plan_.loop_seconds / call_seconds * random;
  burst->calls = static_cast<std::size_t>(std::clamp(calls, 1.0, kMostCallsOfLoop));
  Nanoseconds elapsed{0};
  const auto times = static_cast<std::uint32_t>(burst->calls);
  if (TRY(Note(index, process(index).Repeat(set, times, &elapsed)))) return true;
  burst->seconds = Seconds(elapsed).count();
  call_seconds = burst->seconds / static_cast<double>(burst->calls);
  return false;
}

Result<bool> TimingRun::PlayEmpty(std::size_t index, std::span<const std::uint32_t> sets,
                                  Nanoseconds* elapsed) {
  return Note(index, process(index).RunEmpty(sets, elapsed));
}

Result<bool> TimingRun::Note(std::size_t index, Result<ProcessFailure> result) {
  ProcessFailure failure = TRY(std::move(result));
  if (!failure) return false;
  Fault(index, std::move(*failure));
  return true;
}

void TimingRun::Fault(std::size_t index, WorkerFailure failure) {
  outcome_.failed = TimingFailure{.side = index, .failure = std::move(failure), .error = {}};
}

}  // namespace pragma
