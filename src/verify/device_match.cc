#include "verify/device_match.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "core/status.h"
#include "harness/worker_failure.h"
#include "task/referee.h"
#include "verify/comparator.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/statistics.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

using Failure = std::optional<WorkerFailure>;
using Sets = std::span<const std::uint32_t>;

// Steps that return bool return true when a candidate failed in them. The outcome says why.
class DeviceMatch final {
 public:
  DeviceMatch(const DeviceSession& session, std::vector<DeviceSide>& sides, Rng& rng)
      : session_(session), sides_(sides), rng_(rng), left_out_(sides.size()) {
    outcome_.timing.sides.resize(sides.size());
  }

  Result<DeviceOutcome> Run();

 private:
  Result<void> AwaitAll();
  Result<void> FirstCalls();
  Result<void> RunProcess(std::size_t process);
  Result<void> RunBurst(std::size_t process);
  Result<void> TimeSide(std::size_t side, DevicePlayer& player, Sets sets);
  Result<bool> Play(std::size_t side, DevicePlayer& player, Sets sets, Nanoseconds* elapsed);
  Result<bool> PlayEmpty(std::size_t side, DevicePlayer& player, Sets sets, Nanoseconds* elapsed);
  Result<bool> Wake(std::size_t side, DevicePlayer& player);
  Result<bool> Freeze(std::size_t side, DevicePlayer& player);
  Result<void> CheckOutputs(std::size_t side, Sets sets);
  void Settle(std::size_t process);
  Result<void> Dismiss(std::size_t process);
  bool Note(std::size_t side, Failure failure);
  [[nodiscard]] bool failed() const { return outcome_.timing.failed.has_value(); }
  [[nodiscard]] DeviceStage& stage() const { return *session_.stage; }
  [[nodiscard]] std::size_t area(std::size_t side) const { return sides_[side].area_number(); }
  [[nodiscard]] DevicePlayer& player(std::size_t side, std::size_t process) {
    return sides_[side].players()[process];
  }
  [[nodiscard]] std::vector<std::size_t> ShuffledSides();
  [[nodiscard]] std::vector<std::uint32_t> ShuffledSets();

  const DeviceSession& session_;
  std::vector<DeviceSide>& sides_;
  TimingPlan plan_;
  Rng& rng_;
  std::vector<char> left_out_;  // by side: nonzero if the side was left out
  DeviceOutcome outcome_;
};

Result<DeviceOutcome> DeviceMatch::Run() {
  const TimePoint start = std::chrono::steady_clock::now();
  TRY(AwaitAll());
  if (!failed()) TRY(FirstCalls());
  outcome_.waited = Since(start);
  if (failed()) return std::move(outcome_);
  plan_ = outcome_.plan = TRY(session_.begin());
  const std::size_t processes = sides_.front().players().size();
  for (std::size_t process = 0; process < processes && !failed(); ++process) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while timing");
    if (session_.progress) {
      session_.progress(static_cast<int>(process) + 1, static_cast<int>(processes));
    }
    TRY(RunProcess(process));
  }
  return std::move(outcome_);
}

// torch.compile may not support a module. That is not the candidate's fault.
Result<void> DeviceMatch::AwaitAll() {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    Result<Failure> ready = sides_[i].Await();
    if (!ready && sides_[i].area() == DeviceArea::kCompile) {
      left_out_[i] = 1;
      outcome_.no_compile = ready.error().message;
      continue;
    }
    if (!ready) return std::unexpected(ready.error());
    if (!failed()) Note(i, std::move(*ready));
  }
  return {};
}

// Makes the first calls of all module processes in parallel. They find what the checks have
// compiled.
Result<void> DeviceMatch::FirstCalls() {
  constexpr std::array<std::uint32_t, 1> kFirst{0};
  std::vector<std::pair<std::size_t, std::future<Result<Failure>>>> calls;
  TRY(stage().RenewSets(kFirst, rng_));
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (sides_[i].is_torch()) continue;
    TRY(stage().referee().Put(area(i), kFirst, rng_() >> 1U));
    for (DevicePlayer& player : sides_[i].players()) {
      calls.emplace_back(i, std::async(std::launch::async, [&player, &kFirst]() -> Result<Failure> {
                           Nanoseconds elapsed{0};
                           TRY(player.worker->Thaw());
                           if (Failure failure = TRY(player.worker->Run(kFirst, &elapsed))) {
                             return failure;
                           }
                           return player.worker->Freeze();
                         }));
    }
  }
  for (auto& [side, call] : calls) {
    Result<Failure> done = call.get();
    if (!done) return std::unexpected(done.error());
    if (!failed()) Note(side, std::move(*done));
  }
  return {};
}

Result<void> DeviceMatch::RunProcess(std::size_t process) {
  for (SideTiming& side : outcome_.timing.sides) side.seconds.emplace_back();
  for (int burst = 0; burst < plan_.bursts && !failed(); ++burst) TRY(RunBurst(process));
  Settle(process);
  return failed() ? Result<void>() : Dismiss(process);
}

std::vector<std::uint32_t> DeviceMatch::ShuffledSets() {
  std::vector<std::uint32_t> sets(plan_.sets());
  std::iota(sets.begin(), sets.end(), 0U);
  Shuffle(sets, rng_);
  return sets;
}

std::vector<std::size_t> DeviceMatch::ShuffledSides() {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (left_out_[i] == 0) order.push_back(i);
  }
  Shuffle(order, rng_);
  return order;
}

Result<void> DeviceMatch::RunBurst(std::size_t process) {
  const std::vector<std::uint32_t> sets = ShuffledSets();
  TRY(stage().RenewSets(sets, rng_));
  for (const std::size_t side : ShuffledSides()) {
    TRY(TimeSide(side, player(side, process), sets));
    if (failed()) return {};
  }
  return {};
}

// The timed sets reach the area only after the warm-up has finished. Where there is a single set,
// the warm-up uses its slot with other values.
Result<void> DeviceMatch::TimeSide(std::size_t side, DevicePlayer& player, Sets sets) {
  const bool single = stage().size().sets == 1;
  const Sets warmup = single ? sets : sets.first(plan_.warmup);
  const Sets timed = single ? sets : sets.subspan(plan_.warmup);
  Nanoseconds elapsed{0};
  if (!warmup.empty()) TRY(stage().referee().Put(area(side), warmup, rng_() >> 1U));
  TRY(player.worker ? player.worker->Thaw() : player.timer->peer().Thaw());
  if (!warmup.empty() && TRY(Play(side, player, warmup, &elapsed))) return {};
  if (single) TRY(stage().RenewSets(timed, rng_));
  TRY(stage().referee().Put(area(side), timed, rng_() >> 1U));
  if (TRY(Wake(side, player))) return {};
  if (TRY(PlayEmpty(side, player, timed, &elapsed))) return {};
  player.empty.push_back(Seconds(elapsed).count());
  if (TRY(Play(side, player, timed, &elapsed))) return {};
  player.bursts.push_back(Seconds(elapsed).count());
  if (TRY(Freeze(side, player))) return {};
  return player.worker ? CheckOutputs(side, sets) : Result<void>();
}

Result<void> DeviceMatch::CheckOutputs(std::size_t side, Sets sets) {
  const std::vector<SlotFigures> figures = TRY(stage().referee().Compare(area(side), sets));
  for (std::size_t i = 0; i < sets.size() && !failed(); ++i) {
    const SlotFigures& slot = figures[i];
    if (!slot.outside.empty() || !slot.written.empty()) {
      const std::string what =
          slot.outside.empty() ? slot.written : "outside its output " + slot.outside;
      Note(side, WorkerFailure{.status = Status::kCrashed, .reason = "wrote " + what, .log = {}});
      return {};
    }
    Comparison compared = stage().Judge(slot, stage().Tolerances(sets[i]));
    if (!compared.ok) {
      compared = TRY(stage().SecondOpinion(area(side), sets[i], stage().Tolerances(sets[i]), rng_));
    }
    if (compared.ok) continue;
    Note(side, WorkerFailure{.status = Status::kImplausible,
                             .reason = "right when it was checked, wrong while it was timed: " +
                                       compared.reason,
                             .log = {}});
    outcome_.timing.failed->error = compared.error;
  }
  return {};
}

// A candidate can make its own empty round trips slow. At most the cost of Torch's is therefore
// subtracted from its bursts.
void DeviceMatch::Settle(std::size_t process) {
  double most = 0;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const std::vector<double>& empty = player(i, process).empty;
    if (sides_[i].is_torch() && !empty.empty()) most = std::max(most, Median(empty));
  }
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const DevicePlayer& own = player(i, process);
    if (own.bursts.empty()) continue;
    const double rounds = Median(own.empty);
    const double doorbell = sides_[i].is_torch() ? rounds : std::min(rounds, most);
    outcome_.timing.sides[i].Add(own.bursts, doorbell, plan_.timed);
  }
}

// Releases the memory that this round's Torch processes have used, so that the next ones can use
// it.
Result<void> DeviceMatch::Dismiss(std::size_t process) {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (!sides_[i].is_torch() || left_out_[i] != 0) continue;
    TimerProcess& timer = *player(i, process).timer;
    TRY(timer.peer().Thaw());
    TRY(timer.Release(session_.torch_limit));
    TRY(timer.peer().Freeze());
  }
  return {};
}

Result<bool> DeviceMatch::Play(std::size_t side, DevicePlayer& player, Sets sets,
                               Nanoseconds* elapsed) {
  if (player.worker) return Note(side, TRY(player.worker->Run(sets, elapsed)));
  *elapsed = TRY(player.timer->Run(sets, session_.torch_limit));
  return false;
}

Result<bool> DeviceMatch::PlayEmpty(std::size_t side, DevicePlayer& player, Sets sets,
                                    Nanoseconds* elapsed) {
  if (player.worker) return Note(side, TRY(player.worker->RunEmpty(sets, elapsed)));
  *elapsed = TRY(player.timer->RunEmpty(sets, session_.torch_limit));
  return false;
}

Result<bool> DeviceMatch::Wake(std::size_t side, DevicePlayer& player) {
  if (player.worker) return Note(side, TRY(player.worker->Wake()));
  TRY(player.timer->Wake(session_.torch_limit));
  return false;
}

Result<bool> DeviceMatch::Freeze(std::size_t side, DevicePlayer& player) {
  if (player.worker) return Note(side, TRY(player.worker->Freeze()));
  TRY(player.timer->peer().Freeze());
  return false;
}

bool DeviceMatch::Note(std::size_t side, Failure failure) {
  if (!failure) return false;
  outcome_.timing.failed = TimingFailure{.side = side, .failure = std::move(*failure), .error = {}};
  return true;
}

}  // namespace

Result<DeviceOutcome> RunOnDevice(const DeviceSession& session, std::vector<DeviceSide>& sides,
                                  Rng& rng) {
  return DeviceMatch(session, sides, rng).Run();
}

}  // namespace pragma
