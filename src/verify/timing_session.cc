#include "verify/timing_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "harness/peer.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "verify/comparator.h"
#include "verify/stage.h"
#include "verify/statistics.h"

namespace pragma {
namespace {

// A disturbed doorbell must not make a burst look like nothing: at least this share was the calls.
constexpr double kLeastShareOfCalls = 0.25;
// Of a worker's doorbell, whose median is some 5 us and whose 99th percentile below 30.
constexpr double kMostDoorbellSeconds = 60e-6;

// More processors than allowed, beyond what the accounting is out by around a burst.
constexpr double kProcessorsOver = 1.15;
constexpr double kAccountingSeconds = 60e-6;  // of each burst

// How much slower than usual a burst whose inputs arrive late may be: threads have to be woken, and
// the caches were used by others. What a kernel can gain by working ahead is bounded by it.
constexpr double kPace = 1.25;
constexpr double kPaceSlackSeconds = 150e-6;  // of a burst, thaw and doorbell included
constexpr int kSecretBursts = 8;              // of a process
constexpr int kOrdinaryBursts = 5;  // before them; none in the first process, which mostly decides
constexpr int kSecretProcesses = 4;

void Shuffle(std::vector<std::uint32_t>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.Below(i)]);
}

std::vector<std::uint32_t> Numbers(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

// One process of one side. Exactly one of the two is there.
struct Player {
  std::optional<WorkerProcess> worker;
  std::optional<TimerProcess> timer;
  std::vector<double> bursts;    // seconds with the doorbell's cost
  std::vector<double> empty;     // seconds of bursts without calls: the doorbell's cost
  double processor_seconds = 0;  // in the timed bursts

  [[nodiscard]] Peer& peer() { return worker ? worker->peer() : timer->peer(); }
};

using MaybeFailure = Result<std::optional<WorkerFailure>>;

MaybeFailure NoFailure() { return std::optional<WorkerFailure>(); }

// Runs `sets` on whatever the player is.
MaybeFailure Play(Player& player, std::span<const std::uint32_t> sets, Seconds limit,
                  Nanoseconds* elapsed) {
  if (player.worker) return player.worker->Run(sets, elapsed);
  *elapsed = TRY(player.timer->Run(sets, limit));
  return NoFailure();
}

MaybeFailure PlayEmpty(Player& player, std::span<const std::uint32_t> sets, Seconds limit,
                       Nanoseconds* elapsed) {
  if (player.worker) return player.worker->RunEmpty(sets, elapsed);
  *elapsed = TRY(player.timer->RunEmpty(sets, limit));
  return NoFailure();
}

// The running state of one session; its methods are the steps of RunTiming in order.
class Match final {
 public:
  Match(const TimingContext& context, const std::vector<Side>& sides, const TimingPlan& plan,
        Rng& rng)
      : context_(context), sides_(sides), plan_(plan), rng_(rng) {
    outcome_.sides.resize(sides.size());
  }

  // For one side only.
  Result<SecretOutcome> RunSecret(Seconds expected);
  Result<void> SecretProcess(Seconds expected, int ordinary, SecretOutcome& secret);

  Result<TimingOutcome> Run() {
    for (int process = 0; process < plan_.processes && !outcome_.failed; ++process) {
      if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while timing");
      if (context_.progress) context_.progress(process + 1, plan_.processes);
      if (auto done = RunProcess(); !done) return std::unexpected(done.error());
    }
    return std::move(outcome_);
  }

 private:
  Result<void> RunProcess() {
    players_.clear();
    for (SideTiming& side : outcome_.sides) side.seconds.emplace_back();
    if (auto started = StartAll(); !started) return started;
    for (int burst = 0; burst < plan_.bursts && !outcome_.failed; ++burst) {
      if (auto done = RunBurst(); !done) return done;
    }
    for (std::size_t i = 0; i < players_.size(); ++i) Settle(players_[i], outcome_.sides[i]);
    for (std::size_t i = 0; i < players_.size() && !outcome_.failed; ++i) CheckProcessors(i);
    players_.clear();
    return {};
  }

  // What a kernel's threads use beyond its share would not be there in use, and is not the
  // baseline's either.
  void CheckProcessors(std::size_t index) {
    const Player& player = players_[index];
    if (!player.worker) return;
    double wall = 0;
    for (const double burst : player.bursts) wall += burst;
    const double allowed = context_.worker.threads * wall * kProcessorsOver +
                           kAccountingSeconds * static_cast<double>(player.bursts.size());
    if (player.processor_seconds <= allowed) return;
    Fault(index, {.status = Status::kImplausible,
                  .reason = fmt::format("it kept {:.1f} processors busy while it was timed; {} "
                                        "allowed: use no more threads than OMP_NUM_THREADS",
                                        player.processor_seconds / wall, context_.worker.threads)});
  }

  void Settle(const Player& player, SideTiming& side) const {
    if (player.bursts.empty()) return;
    // A candidate can make its own rounds without calls slow.
    const double doorbell =
        player.worker ? std::min(Median(player.empty), kMostDoorbellSeconds) : Median(player.empty);
    for (const double burst : player.bursts) {
      const double calls = std::max(burst - doorbell, burst * kLeastShareOfCalls);
      side.seconds.back().push_back(calls / static_cast<double>(plan_.timed));
    }
    side.samples += player.bursts.size() * plan_.timed;
    side.timed_seconds =
        std::accumulate(player.bursts.begin(), player.bursts.end(), side.timed_seconds);
    side.processor_seconds += player.processor_seconds;
    side.doorbell_us = doorbell * 1e6;
  }

  Result<void> StartAll() {
    players_.resize(sides_.size());
    // Every process is started before any is loaded, so that they start side by side.
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      if (auto started = Start(sides_[i], players_[i]); !started) return started;
    }
    for (std::size_t i = 0; i < sides_.size() && !outcome_.failed; ++i) {
      if (auto ready = MakeReady(i); !ready) return ready;
    }
    return {};
  }

  Result<void> Start(const Side& side, Player& player) {
    Stage& stage = *context_.stage;
    if (side.kernel == nullptr) {
      player.timer = TRY(TimerProcess::Start(stage.server(), stage.ring(), plan_.sets(), side.mode,
                                             side.allocator));
    } else {
      player.worker = TRY(WorkerProcess::Start(*context_.jail, *context_.libraries, *side.kernel,
                                               stage.task(), stage.ring(), context_.worker));
    }
    return {};
  }

  // Loads, and makes the first call: it faults pages in and starts threads.
  Result<void> MakeReady(std::size_t index) {
    Player& player = players_[index];
    if (player.timer) {
      if (auto loaded = player.timer->Load(context_.torch_limit); !loaded) return loaded;
    } else if (TRY(Note(index, player.worker->Load()))) {
      return {};
    }
    if (plan_.warmup > 0) {
      const std::vector<std::uint32_t> sets{static_cast<std::uint32_t>(rng_.Below(plan_.sets()))};
      if (player.worker) player.worker->Poison(rng_, sets);
      if (TRY(Prepare(index, sets))) return {};
      Nanoseconds elapsed{0};
      if (TRY(Note(index, Play(player, sets, context_.torch_limit, &elapsed)))) return {};
    }
    TRY(FreezePlayer(index));
    return {};
  }

  Result<void> RunBurst() {
    Stage& stage = *context_.stage;
    std::vector<std::uint32_t> sets = Numbers(plan_.sets());
    Shuffle(sets, rng_);
    // With their expected values: nothing of ours may run while a side is timed.
    for (const std::uint32_t set : sets) {
      if (auto renewed = stage.RenewSet(set, rng_); !renewed) return renewed;
    }
    std::vector<std::uint32_t> order = Numbers(sides_.size());
    Shuffle(order, rng_);
    for (const std::uint32_t side : order) {
      if (auto played = TimeSide(side, sets); !played) return played;
      if (outcome_.failed) return {};
    }
    return {};
  }

  Result<void> TimeSide(std::size_t index, const std::vector<std::uint32_t>& sets) {
    Player& player = players_[index];
    if (player.worker) player.worker->Poison(rng_, sets);
    TRY(Wake(player));
    if (TRY(Prepare(index, sets))) return {};
    const std::span<const std::uint32_t> warmup = std::span(sets).first(plan_.warmup);
    const std::span<const std::uint32_t> timed = std::span(sets).subspan(plan_.warmup);
    Nanoseconds elapsed{0};
    if (!warmup.empty() && TRY(Note(index, Play(player, warmup, context_.torch_limit, &elapsed))))
      return {};
    // Right before the timed burst, so that the threads and the processor are in the same state.
    if (TRY(Note(index, PlayEmpty(player, timed, context_.torch_limit, &elapsed)))) return {};
    player.empty.push_back(Seconds(elapsed).count());
    const Seconds before = player.peer().CpuTime();
    if (TRY(Note(index, Play(player, timed, context_.torch_limit, &elapsed)))) return {};
    player.processor_seconds += (player.peer().CpuTime() - before).count();
    player.bursts.push_back(Seconds(elapsed).count());
    if (TRY(FreezePlayer(index))) return {};
    if (player.worker) CheckOutputs(index, sets);
    return {};
  }

  // Parameters, warm-up, and only then the inputs. Seconds of a call, or nullopt after a failure.
  Result<std::optional<double>> SecretBurst() {
    Stage& stage = *context_.stage;
    Player& player = players_.front();
    std::vector<std::uint32_t> sets = Numbers(plan_.sets());
    Shuffle(sets, rng_);
    for (const std::uint32_t set : sets) TRY(stage.RenewSet(set, rng_));
    const std::span<const std::uint32_t> warmup = std::span(sets).first(plan_.warmup);
    const std::span<const std::uint32_t> timed = std::span(sets).subspan(plan_.warmup);
    player.worker->Poison(rng_, sets);
    TRY(Wake(player));
    Nanoseconds elapsed{0};
    if (TRY(Prepare(0, sets))) return std::optional<double>();
    if (!warmup.empty() && TRY(Note(0, Play(player, warmup, context_.torch_limit, &elapsed))))
      return std::optional<double>();
    if (TRY(FreezePlayer(0))) return std::optional<double>();
    // What pragma_prepare made must stay valid, and a drawn set has its own parameters.
    const bool keep = sides_.front().kernel->has_prepare && stage.draws_refills();
    for (const std::uint32_t set : timed) {
      if (!keep) TRY(stage.RenewInputs(set, rng_));
    }
    player.worker->Poison(rng_, timed);
    // From before the thaw: whatever is done on the new inputs is done within this time.
    const TimePoint start = std::chrono::steady_clock::now();
    TRY(Wake(player));
    if (TRY(Note(0, Play(player, timed, context_.torch_limit, &elapsed))))
      return std::optional<double>();
    const double burst = Seconds(std::chrono::steady_clock::now() - start).count();
    if (TRY(FreezePlayer(0))) return std::optional<double>();
    CheckOutputs(0, std::vector<std::uint32_t>(timed.begin(), timed.end()));
    if (outcome_.failed) return std::optional<double>();
    return std::optional(burst / static_cast<double>(plan_.timed));
  }

  void CheckOutputs(std::size_t index, const std::vector<std::uint32_t>& sets) {
    const WorkerProcess& worker = *players_[index].worker;
    for (const std::uint32_t set : sets) {
      if (const auto broken = worker.BrokenGuard(set)) {
        Fault(index, {.status = Status::kCrashed, .reason = "wrote outside its output " + *broken});
        return;
      }
      const Comparison compared = context_.stage->CompareSlot(worker, set);
      if (!compared.ok) {
        Fault(index, {.status = Status::kImplausible,
                      .reason = "right when it was checked, wrong while it was timed: " +
                                compared.reason});
        outcome_.failed->error = compared.error;
        return;
      }
    }
  }

  static Result<void> Wake(Player& player) {
    return player.worker ? player.worker->Thaw() : player.timer->peer().Thaw();
  }

  // True when a candidate failed by it.
  Result<bool> FreezePlayer(std::size_t index) {
    Player& player = players_[index];
    if (player.worker) return Note(index, player.worker->Freeze());
    TRY(player.timer->peer().Freeze());
    return false;
  }

  // pragma_prepare after each change of parameters; not timed here.
  Result<bool> Prepare(std::size_t index, std::span<const std::uint32_t> sets) {
    if (sides_[index].kernel == nullptr || !sides_[index].kernel->has_prepare) return false;
    return Note(index, players_[index].worker->Prepare(sets, nullptr));
  }

  Result<bool> Note(std::size_t index, MaybeFailure result) {
    std::optional<WorkerFailure> failure = TRY(std::move(result));
    if (!failure) return false;
    Fault(index, std::move(*failure));
    return true;
  }

  void Fault(std::size_t index, WorkerFailure failure) {
    outcome_.failed = TimingFailure{.side = index, .failure = std::move(failure), .error = {}};
  }

  const TimingContext& context_;
  const std::vector<Side>& sides_;
  const TimingPlan& plan_;
  Rng& rng_;
  TimingOutcome outcome_;
  std::vector<Player> players_;
};

// An undisturbed burst of a kernel that does its work when it is asked to comes soon; one of a
// kernel that does not never comes.
Result<SecretOutcome> Match::RunSecret(Seconds expected) {
  SecretOutcome secret{.seconds = std::numeric_limits<double>::infinity()};
  for (int process = 0; process < kSecretProcesses && !secret.keeps_pace && !outcome_.failed;
       ++process) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while timing");
    TRY(SecretProcess(expected, process > 0 ? kOrdinaryBursts : 0, secret));
  }
  secret.failed = outcome_.failed;
  players_.clear();
  return secret;
}

Result<void> Match::SecretProcess(Seconds expected, int ordinary, SecretOutcome& secret) {
  players_.clear();
  outcome_.sides.front().seconds.emplace_back();
  TRY(StartAll());
  for (int burst = 0; burst < ordinary && !outcome_.failed; ++burst) TRY(RunBurst());
  if (outcome_.failed) return {};
  double pace = expected.count();
  if (ordinary > 0) {
    Settle(players_.front(), outcome_.sides.front());
    secret.ordinary_seconds = Median(outcome_.sides.front().seconds.back());
    pace = std::max(pace, secret.ordinary_seconds);
  }
  const double enough = pace * kPace + kPaceSlackSeconds / static_cast<double>(plan_.timed);
  for (int burst = 0; burst < kSecretBursts && !secret.keeps_pace && !outcome_.failed; ++burst) {
    const std::optional<double> seconds = TRY(SecretBurst());
    if (!seconds) break;
    secret.seconds = std::min(secret.seconds, *seconds);
    secret.keeps_pace = *seconds <= enough;
  }
  return {};
}

}  // namespace

Result<SecretOutcome> RunSecretBursts(const TimingContext& context, const Side& side,
                                      const TimingPlan& plan, Seconds expected, Rng& rng) {
  const std::vector<Side> sides{side};
  return Match(context, sides, plan, rng).RunSecret(expected);
}

Interval SideTiming::Milliseconds() const {
  std::vector<double> logs;
  for (const std::vector<double>& process : seconds) {
    if (!process.empty()) logs.push_back(std::log(Median(process) * 1e3));
  }
  return GeometricInterval(logs);
}

Interval TimingOutcome::Ratio(std::size_t a, std::size_t b) const {
  std::vector<double> logs;
  for (std::size_t process = 0; process < sides[a].seconds.size(); ++process) {
    std::vector<double> paired;
    for (std::size_t burst = 0; burst < sides[a].seconds[process].size(); ++burst) {
      paired.push_back(
          std::log(sides[a].seconds[process][burst] / sides[b].seconds[process][burst]));
    }
    if (!paired.empty()) logs.push_back(Median(paired));
  }
  return GeometricInterval(logs);
}

Result<TimingOutcome> RunTiming(const TimingContext& context, const std::vector<Side>& sides,
                                const TimingPlan& plan, Rng& rng) {
  Match match(context, sides, plan, rng);
  return match.Run();
}

Result<TimingOutcome> RunContest(const TimingContext& context, const std::vector<Side>& sides,
                                 const TimingPlan& plan, const Contest& contest, Rng& rng) {
  TimingOutcome first = TRY(RunTiming(context, sides, plan, rng));
  const bool won =
      !first.failed && first.Ratio(contest.champion, contest.challenger).low > 1 + kMinimumEffect;
  if (!won) return first;
  return RunTiming(context, sides, plan, rng);
}

}  // namespace pragma
