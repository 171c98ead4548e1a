#include "verify/device_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "task/referee.h"
#include "verify/bounds.h"
#include "verify/device_check.h"
#include "verify/device_match.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/timing_plan.h"
#include "verify/timing_record.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

class DeviceTiming final {
 public:
  DeviceTiming(const DeviceParts& parts, Judging& judging, const MakeSides& make_sides,
               const VerifyProgress& progress)
      : parts_(parts), judging_(judging), make_sides_(make_sides), progress_(progress) {}

  Result<void> Run();

 private:
  Result<TimingPlan> Plan(std::size_t sides);
  Result<TimingPlan> Begin(std::size_t sides);
  Result<DeviceOutcome> Session();
  Result<void> TimeOnce();
  void Record(const std::vector<DeviceSide>& sides, const DeviceOutcome& outcome);
  bool NoteFailure(const TimingOutcome& outcome);
  bool Plausible();

  const DeviceParts& parts_;
  Judging& judging_;
  const MakeSides& make_sides_;
  const VerifyProgress& progress_;
  std::optional<TimingPlan> plan_;  // the first session's plan is reused for a second look
};

// Returns the index of the area's side, or the number of sides if there is none.
std::size_t Find(const std::vector<DeviceSide>& sides, DeviceArea area) {
  const auto found = std::ranges::find(sides, area, &DeviceSide::area);
  return static_cast<std::size_t>(found - sides.begin());
}

Result<void> DeviceTiming::Run() {
  TRY(TimeOnce());
  if (judging_.failed() || Plausible()) return {};
  // A disturbed measurement can look too fast as well as too slow, so fresh processes decide.
  std::erase_if(judging_.evaluation.checks,
                [](const Check& check) { return check.name == "timed_outputs"; });
  judging_.Note("hard_bound", "note", "faster than its bound at first; timed again");
  TRY(TimeOnce());
  if (judging_.failed() || Plausible()) return {};
  const double measured = judging_.evaluation.timing->ms.median;
  const double bound = *judging_.evaluation.lower_bound_ms;
  const std::string figures =
      fmt::format("{:.4g} ms measured, {:.4g} ms possible", measured, bound);
  judging_.Note("hard_bound", "fail", figures);
  judging_.Reject(Status::kImplausible,
                  "faster than the device can move its bytes: " + figures +
                      "; every call must read all of its inputs and write all of its outputs");
  return {};
}

// Refills and compares some slots without using the result, to measure how long this takes. The
// first round is a warm-up.
Result<TimingPlan> DeviceTiming::Plan(std::size_t sides) {
  Referee& referee = parts_.stage.referee();
  std::vector<std::uint32_t> slots(std::min(parts_.stage.size().sets, kSlotsForUpkeep));
  std::iota(slots.begin(), slots.end(), 0U);
  for (int round = 0; round < 2; ++round) {
    const TimePoint before = std::chrono::steady_clock::now();
    TRY(parts_.stage.RenewSets(slots, judging_.rng));
    TRY(referee.Put(kCandidateArea, slots, judging_.rng() >> 1U));
    TRY(referee.Compare(kCandidateArea, slots));
    const Seconds all = Since(before);
    judging_.upkeep_seconds = all.count() / static_cast<double>(slots.size());
  }
  return MakePlan({.sets = parts_.stage.size().sets,
                   .round_seconds = judging_.call_seconds() * static_cast<double>(sides),
                   .upkeep_seconds = judging_.upkeep_seconds,
                   .cache = parts_.options.judging.cache,
                   .on_device = true},
                  parts_.options.timing_budget);
}

// From here on, no other process may use the device until the session's figures are complete.
Result<TimingPlan> DeviceTiming::Begin(std::size_t sides) {
  TRY(parts_.turn.BeAlone(judging_.evaluation));
  if (!plan_) plan_ = TRY(Plan(sides));
  return *plan_;
}

// Runs one session. Its processes become ready while other processes still build and check on the
// device. Contexts, modules and first calls take longer than what is timed, and they do not need an
// otherwise idle device.
Result<DeviceOutcome> DeviceTiming::Session() {
  TRY(parts_.turn.Share());
  std::vector<DeviceSide>& sides = parts_.crew.timed.emplace_back(TRY(make_sides_()));
  const DeviceSession session{.stage = &parts_.stage,
                              .progress =
                                  [this](int process, int processes) {
                                    if (progress_) {
                                      progress_(fmt::format("time {}/{}", process, processes));
                                    }
                                  },
                              .begin = [&] { return Begin(sides.size()); }};
  DeviceOutcome outcome = TRY(RunOnDevice(session, sides, judging_.rng));
  parts_.turn.Leave();
  judging_.evaluation.phases_ms["time_ready"] += outcome.waited.count() * 1e3;
  return outcome;
}

Result<void> DeviceTiming::TimeOnce() {
  DeviceOutcome outcome = TRY(Session());
  const std::vector<DeviceSide>& sides = parts_.crew.timed.back();
  const std::size_t best = Find(sides, DeviceArea::kBest);
  if (best < sides.size() && !outcome.timing.failed &&
      outcome.timing.Ratio(best, 0).low > 1 + kMinimumEffect) {
    // The second session counts, because it was not selected for being a win.
    outcome = TRY(Session());
  }
  if (outcome.timing.failed && outcome.timing.failed->side == best) {
    return Fail("the present best failed while it was timed: " +
                outcome.timing.failed->failure.reason);
  }
  if (NoteFailure(outcome.timing)) return {};
  if (!outcome.no_compile.empty()) {
    judging_.Note("compile_baseline", "note", outcome.no_compile);
  }
  Record(sides, outcome);
  return {};
}

void DeviceTiming::Record(const std::vector<DeviceSide>& sides, const DeviceOutcome& outcome) {
  Evaluation& evaluation = judging_.evaluation;
  const TimingPlan& plan = outcome.plan;
  const TimingOutcome& timing = outcome.timing;
  const int threads = parts_.machine.threads;
  judging_.Note("timed_outputs", "pass",
                fmt::format("all outputs of {} timed calls", timing.sides[0].samples));
  judging_.Note("no_work_ahead", "pass",
                "inputs reach the module's memory after the warm-up has been waited for");
  evaluation.timing = ToTiming(timing.sides[0], threads, plan);
  evaluation.eager = ToTiming(timing.sides[1], threads, plan);
  evaluation.speedup_eager = timing.Ratio(1, 0);
  const std::size_t best = Find(sides, DeviceArea::kBest);
  if (best < sides.size()) evaluation.speedup_best = timing.Ratio(best, 0);
  const std::size_t compile = Find(sides, DeviceArea::kCompile);
  if (compile < sides.size() && outcome.no_compile.empty()) {
    evaluation.compile = ToTiming(timing.sides[compile], threads, plan);
    evaluation.speedup_compile = timing.Ratio(compile, 0);
  }
  std::vector<std::string> names;
  for (const DeviceSide& side : sides) names.push_back(side.name());
  KeepSamples(evaluation, "device", names, timing);
}

// Returns true when the candidate failed; the evaluation then says so.
bool DeviceTiming::NoteFailure(const TimingOutcome& outcome) {
  if (!outcome.failed) return false;
  judging_.Reject(outcome.failed->failure);
  if (outcome.failed->error) judging_.evaluation.error = outcome.failed->error;
  judging_.Note("timed_outputs", "fail", judging_.evaluation.reason);
  return true;
}

// Sets the bound, which is based on the device's peaks. Returns whether the time respects it.
bool DeviceTiming::Plausible() {
  Evaluation& evaluation = judging_.evaluation;
  const double bound = HardBoundMs(parts_.stage.task(), parts_.machine);
  if (bound <= 0) return true;
  evaluation.lower_bound_ms = bound;
  if (!BoundCanBeTold(bound, evaluation.timing->doorbell_us)) return true;
  if (FasterThanPossible(evaluation.timing->ms.median, bound)) return false;
  judging_.Note("hard_bound", "pass", fmt::format("{:.4g} ms is the least its bytes take", bound));
  return true;
}

}  // namespace

Result<void> TimeOnDevice(const DeviceParts& parts, Judging& judging, const MakeSides& make_sides,
                          const VerifyProgress& progress) {
  const PhaseTimer timer(judging.evaluation, "time");
  return DeviceTiming(parts, judging, make_sides, progress).Run();
}

}  // namespace pragma
