#include "verify/value_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "harness/worker_process.h"
#include "verify/batteries.h"
#include "verify/comparator.h"
#include "verify/judging.h"
#include "verify/stage.h"

namespace pragma {
namespace {

constexpr std::size_t kLeastBatteries = 4;
// An integer that is off by less than this rounds to the right one.
// Where a left-out term would be the whole output.
constexpr Tolerance kEveryTermCounts{.rel = 0.01, .rel_l2 = 0.01};
constexpr double kHalf = 0.5;

class ValueCheck final {
 public:
  ValueCheck(const JudgeParts& parts, Judging& judging, const VerifyProgress& progress)
      : parts_(parts), judging_(judging), progress_(progress), side_rng_(Seed{}) {}

  Result<void> Run();
  Result<void> RunNominal();
  Result<void> RunDrawn();

 private:
  Result<WorkerProcess> Begin() const;
  Result<void> Load(WorkerProcess& worker);
  Result<std::optional<WorkerProcess>> Start();
  Result<void> NominalSets(WorkerProcess& worker);
  Result<bool> NominalSet(WorkerProcess& worker, int index);
  Result<bool> JudgeCall(WorkerProcess& worker, std::uint32_t slot, int index);
  Result<void> Again(WorkerProcess& worker, std::string_view where);
  Result<void> Batteries(WorkerProcess& worker);
  Result<bool> OneBattery(WorkerProcess& worker, Battery battery);
  Result<bool> Call(WorkerProcess& worker, std::uint32_t slot, Nanoseconds* elapsed);
  Result<Comparison> SecondOpinion(const WorkerProcess& worker, std::uint32_t slot,
                                   std::vector<Tolerance> tolerances, Comparison first);
  Result<void> JudgeNominal(const WorkerProcess& worker, std::uint32_t slot, int index,
                            bool official);
  Result<void> JudgeBattery(const WorkerProcess& worker, std::uint32_t slot, Battery battery,
                            const BatteryDraw& draw);
  bool GuardsHold(const WorkerProcess& worker, std::uint32_t slot);
  [[nodiscard]] std::vector<std::byte> Outputs(const WorkerProcess& worker,
                                               std::uint32_t slot) const;
  void Summarise();
  void Show(const std::string& phase) const {
    if (progress_) progress_(phase);
  }
  [[nodiscard]] bool strict() const { return parts_.options.mode == CheckMode::kStrict; }

  const JudgeParts& parts_;
  Judging& judging_;
  const VerifyProgress progress_;
  Rng side_rng_;  // of batteries: how many of them there is time for must not shift other draws
  std::vector<std::byte> first_outputs_;  // of the first nominal set
  std::vector<std::string> run_;          // batteries
  std::vector<std::string> left_out_;
  bool reordered_ = false;
};

Result<void> ValueCheck::Run() {
  side_rng_ = Rng(DeriveSeed(judging_.seed, "batteries"));
  parts_.stage.ForgetTolerances();
  {
    WorkerProcess worker = TRY(Begin());
    TRY(Load(worker));
    if (judging_.failed()) return {};
    TRY(NominalSets(worker));
    if (!judging_.failed()) TRY(Again(worker, "in the same process"));
  }
  if (judging_.failed()) return {};
  std::optional<WorkerProcess> fresh = TRY(Start());
  if (!judging_.failed()) TRY(Again(*fresh, "in a fresh process"));
  if (!judging_.failed() && strict()) TRY(Batteries(*fresh));
  if (!judging_.failed()) Summarise();
  return {};
}

// The first set last, so that it is the one that lies in slot 0.
Result<void> ValueCheck::RunNominal() {
  side_rng_ = Rng(DeriveSeed(judging_.seed, "batteries"));
  parts_.stage.ForgetTolerances();
  std::optional<WorkerProcess> worker = TRY(Start());
  for (int i = parts_.options.check_sets - 1; i >= 0 && !judging_.failed(); --i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    TRY(NominalSet(*worker, i));
  }
  return {};
}

// Twice: the first call faults pages in and starts threads, and says little of the kernel's time.
Result<void> ValueCheck::RunDrawn() {
  std::optional<WorkerProcess> worker = TRY(Start());
  for (int call = 0; call < 2 && !judging_.failed(); ++call) TRY(JudgeCall(*worker, 0, 0));
  return {};
}

Result<WorkerProcess> ValueCheck::Begin() const {
  const PhaseTimer timer(judging_.evaluation, "load");
  return WorkerProcess::Start(parts_.jail, parts_.libraries, *judging_.kernel, parts_.stage.task(),
                              parts_.stage.ring(), parts_.worker);
}

// When that fails the evaluation says so.
Result<void> ValueCheck::Load(WorkerProcess& worker) {
  const PhaseTimer timer(judging_.evaluation, "load");
  if (auto failure = TRY(worker.Load())) judging_.Reject(*failure);
  return {};
}

Result<std::optional<WorkerProcess>> ValueCheck::Start() {
  std::optional<WorkerProcess> worker = TRY(Begin());
  TRY(Load(*worker));
  return worker;
}

Result<void> ValueCheck::NominalSets(WorkerProcess& worker) {
  const PhaseTimer timer(judging_.evaluation, "verify");
  bool official = true;
  for (int i = 0; i < parts_.options.check_sets && !judging_.failed(); ++i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    Show(fmt::format("check {}/{}", i + 1, parts_.options.check_sets));
    official = TRY(NominalSet(worker, i)) && official;
  }
  if (judging_.evaluation.error) judging_.evaluation.official_correct = official;
  return {};
}

// One secret input set. Returns KernelBench's verdict on it.
Result<bool> ValueCheck::NominalSet(WorkerProcess& worker, int index) {
  Stage& stage = parts_.stage;
  const auto slot =
      static_cast<std::uint32_t>(static_cast<std::size_t>(index) % stage.ring().sets());
  TRY(stage.DrawSet(static_cast<std::size_t>(index), judging_.rng() >> 1U, slot));
  const bool official = TRY(JudgeCall(worker, slot, index));
  if (index == 0) first_outputs_ = Outputs(worker, slot);
  return official;
}

// One call on what lies in the slot. Returns KernelBench's verdict on it.
Result<bool> ValueCheck::JudgeCall(WorkerProcess& worker, std::uint32_t slot, int index) {
  Nanoseconds elapsed{0};
  if (!TRY(Call(worker, slot, &elapsed))) return false;
  Nanoseconds doorbell{0};
  const std::array<std::uint32_t, 1> sets{slot};
  if (auto failure = TRY(worker.RunEmpty(sets, &doorbell))) {
    judging_.Reject(*failure);
    return false;
  }
  judging_.run_seconds = std::min(judging_.run_seconds, Seconds(elapsed).count());
  judging_.empty_seconds = std::min(judging_.empty_seconds, Seconds(doorbell).count());
  if (!GuardsHold(worker, slot)) return false;
  const bool official = parts_.stage.Official(worker, slot);
  TRY(JudgeNominal(worker, slot, index, official));
  return official;
}

// Poison, pragma_prepare, the kernel; false when the candidate failed.
Result<bool> ValueCheck::Call(WorkerProcess& worker, std::uint32_t slot, Nanoseconds* elapsed) {
  const std::array<std::uint32_t, 1> sets{slot};
  worker.Poison(judging_.rng, sets);
  std::optional<WorkerFailure> failure;
  if (judging_.kernel->has_prepare) {
    Nanoseconds prepare{0};
    failure = TRY(worker.Prepare(sets, &prepare));
    judging_.evaluation.prepare_ms = Seconds(prepare).count() * 1e3;
  }
  if (!failure) failure = TRY(worker.Run(sets, elapsed));
  if (failure) judging_.Reject(*failure);
  return !failure;
}

bool ValueCheck::GuardsHold(const WorkerProcess& worker, std::uint32_t slot) {
  const auto broken = worker.BrokenGuard(slot);
  if (!broken) return true;
  judging_.Note("guards", "fail", *broken);
  judging_.Reject(Status::kCrashed, "wrote outside its output " + *broken);
  return false;
}

Result<void> ValueCheck::JudgeNominal(const WorkerProcess& worker, std::uint32_t slot, int index,
                                      bool official) {
  Evaluation& evaluation = judging_.evaluation;
  const TimePoint before = std::chrono::steady_clock::now();
  Comparison compared = parts_.stage.CompareSlot(worker, slot);
  judging_.compare_seconds = Seconds(std::chrono::steady_clock::now() - before).count();
  if (!compared.ok && strict()) {
    compared = TRY(SecondOpinion(worker, slot, parts_.stage.Tolerances(slot), std::move(compared)));
  }
  const bool fine = strict() ? compared.ok : official;
  const bool worst = !evaluation.error || compared.error.rel_l2 > evaluation.error->rel_l2;
  if (worst || !fine) evaluation.error = compared.error;
  if (fine) return {};
  judging_.Note("values", "fail", fmt::format("input set {}", index + 1));
  judging_.Reject(Status::kWrongValues, compared.ok
                                            ? "differs from Torch by more than KernelBench allows"
                                            : compared.reason);
  return {};
}

Result<Comparison> ValueCheck::SecondOpinion(const WorkerProcess& worker, std::uint32_t slot,
                                             std::vector<Tolerance> tolerances, Comparison first) {
  Comparison second =
      TRY(parts_.stage.SecondOpinion(worker, slot, std::move(tolerances), side_rng_));
  if (!second.ok) return first;
  judging_.Note("values", "note", "ill-conditioned inputs: " + first.reason);
  return second;
}

std::vector<std::byte> ValueCheck::Outputs(const WorkerProcess& worker, std::uint32_t slot) const {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < parts_.stage.task().outputs.size(); ++i) {
    const auto output = worker.output(slot, i);
    all.insert(all.end(), output.begin(), output.end());
  }
  return all;
}

// The first set once more: the same bits, or, where the order of summation varies from run to run,
// values that are right as well. Torch's own sums vary too, so equal bits cannot be asked for.
Result<void> ValueCheck::Again(WorkerProcess& worker, std::string_view where) {
  const PhaseTimer timer(judging_.evaluation, "verify");
  TRY(parts_.stage.RestoreSet(0, 0));
  Nanoseconds elapsed{0};
  if (!TRY(Call(worker, 0, &elapsed)) || !GuardsHold(worker, 0)) return {};
  if (Outputs(worker, 0) == first_outputs_) return {};
  reordered_ = true;
  Comparison compared = parts_.stage.CompareSlot(worker, 0);
  if (!compared.ok && strict())
    compared = TRY(SecondOpinion(worker, 0, parts_.stage.Tolerances(0), std::move(compared)));
  if (compared.ok || !strict()) return {};
  judging_.Note("determinism", "fail", std::string(where));
  judging_.evaluation.error = compared.error;
  judging_.Reject(Status::kNondeterministic,
                  fmt::format("the same inputs gave right values at first and wrong ones {}: {}",
                              where, compared.reason));
  return {};
}

Result<void> ValueCheck::Batteries(WorkerProcess& worker) {
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
    Show(fmt::format("battery {}", BatteryName(battery)));
    if (!TRY(OneBattery(worker, battery))) return {};
  }
  return {};
}

// False when the candidate failed.
Result<bool> ValueCheck::OneBattery(WorkerProcess& worker, Battery battery) {
  constexpr std::uint32_t kSlot = 0;
  const BatteryDraw draw = TRY(parts_.stage.DrawBattery(battery, side_rng_, kSlot));
  if (!draw.not_admitted.empty()) {
    left_out_.push_back(fmt::format("{} ({})", BatteryName(battery), draw.not_admitted));
    return true;
  }
  Nanoseconds elapsed{0};
  if (!TRY(Call(worker, kSlot, &elapsed))) {
    judging_.evaluation.reason += fmt::format("; it happened on {}", BatteryMeaning(battery));
    return false;
  }
  if (!GuardsHold(worker, kSlot)) return false;
  TRY(JudgeBattery(worker, kSlot, battery, draw));
  return !judging_.failed();
}

Result<void> ValueCheck::JudgeBattery(const WorkerProcess& worker, std::uint32_t slot,
                                      Battery battery, const BatteryDraw& draw) {
  Comparison compared = parts_.stage.CompareSlot(worker, slot, draw.tolerances);
  if (battery == Battery::kNonFinite) {
    if (compared.ok) {
      run_.emplace_back(BatteryName(battery));
    } else {
      judging_.Note("non_finite", "note", "differs from Torch there: " + compared.reason);
    }
    return {};
  }
  const bool exact = std::ranges::all_of(draw.exact, [](char whole) { return whole != 0; });
  const bool inexact = exact && compared.ok && !(compared.error.max_abs < kHalf);
  if (inexact) {
    compared.ok = false;
    compared.reason =
        fmt::format("off by {:.3g} where integers must come out exactly", compared.error.max_abs);
  } else if (!compared.ok) {
    compared = TRY(SecondOpinion(worker, slot, draw.tolerances, std::move(compared)));
  }
  if (!compared.ok && ShowsMissingTerms(battery)) {
    Comparison rough = parts_.stage.CompareSlot(
        worker, slot, std::vector<Tolerance>(draw.tolerances.size(), kEveryTermCounts));
    if (rough.ok) judging_.Note("battery", "note", "less exact: " + compared.reason);
    if (rough.ok) compared = std::move(rough);
  }
  if (compared.ok) {
    run_.emplace_back(BatteryName(battery));
    return {};
  }
  judging_.Note("battery", "fail", std::string(BatteryName(battery)));
  judging_.evaluation.error = compared.error;
  judging_.Reject(Status::kWrongValues,
                  fmt::format("right on the task's own inputs, wrong on {}: {}",
                              BatteryMeaning(battery), compared.reason));
  return {};
}

void ValueCheck::Summarise() {
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

Result<void> CheckValues(const JudgeParts& parts, Judging& judging,
                         const VerifyProgress& progress) {
  return ValueCheck(parts, judging, progress).Run();
}

Result<void> CheckNominal(const JudgeParts& parts, Judging& judging) {
  return ValueCheck(parts, judging, {}).RunNominal();
}

Result<void> CheckDrawn(const JudgeParts& parts, Judging& judging) {
  return ValueCheck(parts, judging, {}).RunDrawn();
}

}  // namespace pragma
