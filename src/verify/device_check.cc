#include "verify/device_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "harness/device_worker.h"
#include "task/referee.h"
#include "verify/batteries.h"
#include "verify/comparator.h"
#include "verify/device_stage.h"
#include "verify/judging.h"
#include "verify/stage.h"

namespace pragma {
namespace {

constexpr std::size_t kLeastBatteries = 4;
// Where a left-out term would be the whole output.
constexpr Tolerance kEveryTermCounts{.rel = 0.01, .rel_l2 = 0.01};
// An integer that is off by less than this rounds to the right one.
constexpr double kHalf = 0.5;

using Loaded = Result<std::optional<WorkerFailure>>;

class DeviceCheck final {
 public:
  DeviceCheck(const DeviceParts& parts, Judging& judging, const VerifyProgress& progress)
      : parts_(parts),
        judging_(judging),
        progress_(progress),
        side_rng_(DeriveSeed(judging.seed, "batteries")) {}

  Result<void> Run();

 private:
  Result<DeviceWorker> Begin();
  Result<void> Load(DeviceWorker& worker, DeviceWorker& fresh);
  Result<void> NominalSets(DeviceWorker& worker);
  Result<bool> NominalSet(DeviceWorker& worker, int index);
  Result<void> JudgeNominal(const SlotFigures& figures, std::uint32_t slot, int index);
  Result<void> Again(DeviceWorker& worker, std::string_view where);
  Result<void> Batteries(DeviceWorker& worker);
  Result<bool> OneBattery(DeviceWorker& worker, Battery battery);
  Result<Comparison> OnBattery(const SlotFigures& figures, Battery battery,
                               const BatteryDraw& draw);
  Result<std::optional<SlotFigures>> Call(DeviceWorker& worker, std::uint32_t slot);
  Result<Comparison> SecondOpinion(std::uint32_t slot, std::vector<Tolerance> tolerances,
                                   Comparison first);
  bool Failed(const std::optional<WorkerFailure>& failure);
  void Summarise();
  [[nodiscard]] bool strict() const { return parts_.options.mode == CheckMode::kStrict; }
  [[nodiscard]] DeviceStage& stage() const { return parts_.stage; }

  const DeviceParts& parts_;
  Judging& judging_;
  const VerifyProgress& progress_;
  Rng side_rng_;  // of batteries: how many of them there is time for must not shift other draws
  std::vector<std::string> run_;  // batteries
  std::vector<std::string> left_out_;
  bool reordered_ = false;
};

Result<void> DeviceCheck::Run() {
  stage().ForgetTolerances();
  DeviceWorker worker = TRY(Begin());
  DeviceWorker fresh = TRY(Begin());
  TRY(Load(worker, fresh));
  if (judging_.failed()) return {};
  if (parts_.once_loaded) TRY(parts_.once_loaded());
  TRY(NominalSets(worker));
  if (!judging_.failed()) TRY(Again(worker, "in the same process"));
  if (judging_.failed()) return {};
  TRY(Again(fresh, "in a fresh process"));
  if (!judging_.failed() && strict()) TRY(Batteries(fresh));
  if (!judging_.failed()) Summarise();
  return {};
}

Result<DeviceWorker> DeviceCheck::Begin() {
  const PhaseTimer timer(judging_.evaluation, "load");
  return DeviceWorker::Start(parts_.zygote, stage().referee(), kCandidateArea, parts_.worker);
}

// True when there is one; the evaluation says so then.
bool DeviceCheck::Failed(const std::optional<WorkerFailure>& failure) {
  if (failure) judging_.Reject(*failure);
  return failure.has_value();
}

// Side by side: contexts and the look at the module take tenths of a second.
Result<void> DeviceCheck::Load(DeviceWorker& worker, DeviceWorker& fresh) {
  const PhaseTimer timer(judging_.evaluation, "load");
  std::future<Loaded> loading = std::async(std::launch::async, [&fresh] { return fresh.Load(); });
  const bool failed = Failed(TRY(worker.Load()));
  const std::optional<WorkerFailure> second = TRY(loading.get());
  if (!failed) Failed(second);
  return {};
}

// Fresh poison, one call, and what it left; nullopt when the candidate failed.
Result<std::optional<SlotFigures>> DeviceCheck::Call(DeviceWorker& worker, std::uint32_t slot) {
  const std::array<std::uint32_t, 1> sets{slot};
  std::optional<SlotFigures> figures;
  TRY(stage().referee().Put(kCandidateArea, sets, judging_.rng() >> 1U));
  Nanoseconds elapsed{0};
  Nanoseconds doorbell{0};
  if (Failed(TRY(worker.Wake()))) return figures;
  if (Failed(TRY(worker.Run(sets, &elapsed)))) return figures;
  if (Failed(TRY(worker.RunEmpty(sets, &doorbell)))) return figures;
  judging_.run_seconds = std::min(judging_.run_seconds, Seconds(elapsed).count());
  judging_.empty_seconds = std::min(judging_.empty_seconds, Seconds(doorbell).count());
  const TimePoint before = std::chrono::steady_clock::now();
  SlotFigures found = std::move(TRY(stage().referee().Compare(kCandidateArea, sets)).front());
  judging_.compare_seconds = Seconds(std::chrono::steady_clock::now() - before).count();
  if (!found.outside.empty()) {
    judging_.Note("guards", "fail", found.outside);
    judging_.Reject(Status::kCrashed, "wrote outside its output " + found.outside);
  } else if (!found.written.empty()) {
    judging_.Note("inputs", "fail", found.written);
    judging_.Reject(Status::kCrashed,
                    "wrote " + found.written + "; inputs and parameters can only be read");
  } else {
    figures = std::move(found);
  }
  return figures;
}

Result<void> DeviceCheck::NominalSets(DeviceWorker& worker) {
  const PhaseTimer timer(judging_.evaluation, "verify");
  bool official = true;
  for (int i = 0; i < parts_.options.check_sets && !judging_.failed(); ++i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    if (progress_) progress_(fmt::format("check {}/{}", i + 1, parts_.options.check_sets));
    official = TRY(NominalSet(worker, i)) && official;
  }
  if (judging_.evaluation.error) judging_.evaluation.official_correct = official;
  return {};
}

// One secret input set. Returns KernelBench's verdict on it.
Result<bool> DeviceCheck::NominalSet(DeviceWorker& worker, int index) {
  const auto draw = static_cast<std::size_t>(index);
  const auto slot = static_cast<std::uint32_t>(draw % stage().size().sets);
  TRY(stage().DrawSet(draw, judging_.rng() >> 1U, slot));
  const std::optional<SlotFigures> figures = TRY(Call(worker, slot));
  if (!figures) return false;
  if (index == 0) TRY(stage().referee().Keep(kCandidateArea, slot));
  TRY(JudgeNominal(*figures, slot, index));
  return figures->official;
}

Result<void> DeviceCheck::JudgeNominal(const SlotFigures& figures, std::uint32_t slot, int index) {
  Evaluation& evaluation = judging_.evaluation;
  Comparison compared = stage().Judge(figures, stage().Tolerances(slot));
  if (!compared.ok && strict()) {
    compared = TRY(SecondOpinion(slot, stage().Tolerances(slot), std::move(compared)));
  }
  const bool fine = strict() ? compared.ok : figures.official;
  const bool worst = !evaluation.error || compared.error.rel_l2 > evaluation.error->rel_l2;
  if (worst || !fine) evaluation.error = compared.error;
  if (fine) return {};
  judging_.Note("values", "fail", fmt::format("input set {}", index + 1));
  judging_.Reject(Status::kWrongValues, compared.ok
                                            ? "differs from Torch by more than KernelBench allows"
                                            : compared.reason);
  return {};
}

Result<Comparison> DeviceCheck::SecondOpinion(std::uint32_t slot, std::vector<Tolerance> tolerances,
                                              Comparison first) {
  Comparison second =
      TRY(stage().SecondOpinion(kCandidateArea, slot, std::move(tolerances), side_rng_));
  if (!second.ok) return first;
  judging_.Note("values", "note", "ill-conditioned inputs: " + first.reason);
  return second;
}

// The first set once more: the same bits, or, where the order of summation varies from run to run,
// values that are right as well.
Result<void> DeviceCheck::Again(DeviceWorker& worker, std::string_view where) {
  const PhaseTimer timer(judging_.evaluation, "verify");
  TRY(stage().RestoreSet(0, 0));
  const std::optional<SlotFigures> figures = TRY(Call(worker, 0));
  if (!figures || figures->as_kept) return {};
  reordered_ = true;
  Comparison compared = stage().Judge(*figures, stage().Tolerances(0));
  if (!compared.ok && strict()) {
    compared = TRY(SecondOpinion(0, stage().Tolerances(0), std::move(compared)));
  }
  if (compared.ok || !strict()) return {};
  judging_.Note("determinism", "fail", std::string(where));
  judging_.evaluation.error = compared.error;
  judging_.Reject(Status::kNondeterministic,
                  fmt::format("the same inputs gave right values at first and wrong ones {}: {}",
                              where, compared.reason));
  return {};
}

Result<void> DeviceCheck::Batteries(DeviceWorker& worker) {
  const PhaseTimer timer(judging_.evaluation, "verify");
  std::vector<Battery> order(kAllBatteries.begin(), kAllBatteries.end());
  // Signed inputs find most; which others there is time for is a secret.
  for (std::size_t i = order.size(); i > 2; --i)
    std::swap(order[i - 1], order[1 + side_rng_.Below(i - 1)]);
  const TimePoint start = std::chrono::steady_clock::now();
  for (const Battery battery : order) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    const bool late = std::chrono::steady_clock::now() - start > parts_.options.battery_budget;
    if (late && run_.size() >= kLeastBatteries) {
      left_out_.push_back(std::string(BatteryName(battery)) + " (no time)");
      continue;
    }
    if (progress_) progress_(fmt::format("battery {}", BatteryName(battery)));
    if (!TRY(OneBattery(worker, battery))) return {};
  }
  return {};
}

// False when the candidate failed.
Result<bool> DeviceCheck::OneBattery(DeviceWorker& worker, Battery battery) {
  const BatteryDraw draw = TRY(stage().DrawBattery(battery, side_rng_, 0));
  if (!draw.not_admitted.empty()) {
    left_out_.push_back(fmt::format("{} ({})", BatteryName(battery), draw.not_admitted));
    return true;
  }
  const std::optional<SlotFigures> figures = TRY(Call(worker, 0));
  if (!figures) {
    judging_.evaluation.reason += fmt::format("; it happened on {}", BatteryMeaning(battery));
    return false;
  }
  const Comparison compared = TRY(OnBattery(*figures, battery, draw));
  if (compared.ok) {
    run_.emplace_back(BatteryName(battery));
    return true;
  }
  if (battery == Battery::kNonFinite) {
    judging_.Note("non_finite", "note", "differs from Torch there: " + compared.reason);
    return true;
  }
  judging_.Note("battery", "fail", std::string(BatteryName(battery)));
  judging_.evaluation.error = compared.error;
  judging_.Reject(Status::kWrongValues,
                  fmt::format("right on the task's own inputs, wrong on {}: {}",
                              BatteryMeaning(battery), compared.reason));
  return false;
}

Result<Comparison> DeviceCheck::OnBattery(const SlotFigures& figures, Battery battery,
                                          const BatteryDraw& draw) {
  Comparison compared = stage().Judge(figures, draw.tolerances);
  if (battery == Battery::kNonFinite) return compared;
  const bool exact = std::ranges::all_of(draw.exact, [](char whole) { return whole != 0; });
  if (exact && compared.ok && !(compared.error.max_abs < kHalf)) {
    compared.ok = false;
    compared.reason =
        fmt::format("off by {:.3g} where integers must come out exactly", compared.error.max_abs);
    return compared;
  }
  if (!compared.ok) compared = TRY(SecondOpinion(0, draw.tolerances, std::move(compared)));
  if (!compared.ok && ShowsMissingTerms(battery)) {
    Comparison rough =
        stage().Judge(figures, std::vector<Tolerance>(draw.tolerances.size(), kEveryTermCounts));
    if (rough.ok) judging_.Note("battery", "note", "less exact: " + compared.reason);
    if (rough.ok) return rough;
  }
  return compared;
}

void DeviceCheck::Summarise() {
  judging_.Note("values", "pass",
                fmt::format("{} input sets against fp64", parts_.options.check_sets));
  judging_.Note("guards", "pass", "nothing written outside the outputs");
  judging_.Note("determinism", "pass",
                reordered_ ? "the last bits vary from run to run, within the tolerance"
                           : "the same bits again, in the same and in a fresh process");
  if (!run_.empty()) judging_.Note("batteries", "pass", Join(run_, ", "));
  if (!left_out_.empty()) judging_.Note("batteries", "skipped", Join(left_out_, "; "));
}

}  // namespace

Result<void> CheckOnDevice(const DeviceParts& parts, Judging& judging,
                           const VerifyProgress& progress) {
  return DeviceCheck(parts, judging, progress).Run();
}

}  // namespace pragma
