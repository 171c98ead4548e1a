#include "verify/value_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "harness/worker_process.h"
#include "verify/batteries.h"
#include "verify/comparator.h"
#include "verify/judging.h"
#include "verify/stage.h"
#include "verify/value_policy.h"

namespace pragma {
namespace {

// Calls of a worker whose outputs lie in memory of ours.
class HostCalls final : public CheckedCalls {
 public:
  HostCalls(const JudgeParts& parts, Judging& judging) : stage_(parts.stage), judging_(judging) {}
  // Makes the calls from now on; outlives them.
  void Use(WorkerProcess& worker) { worker_ = &worker; }

  [[nodiscard]] const Task& task() const override { return stage_.task(); }
  [[nodiscard]] std::size_t sets() const override { return stage_.ring().sets(); }
  Result<void> DrawSet(std::size_t draw, std::uint64_t seed, std::uint32_t slot) override {
    return stage_.DrawSet(draw, seed, slot);
  }
  Result<void> RestoreSet(std::size_t draw, std::uint32_t slot) override {
    stage_.RestoreSet(draw, slot);
    return {};
  }
  Result<void> Expect(std::uint32_t slot) override { return stage_.ExpectTruth(slot); }
  Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                  std::uint32_t slot) override {
    return stage_.DrawBattery(wish, rng, slot);
  }
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::uint32_t slot) const override {
    return stage_.Tolerances(slot);
  }
  Result<Comparison> SecondOpinion(std::uint32_t slot, std::vector<Tolerance> tolerances,
                                   Rng& rng) override {
    return stage_.SecondOpinion(*worker_, slot, std::move(tolerances), rng);
  }

  Result<bool> Call(std::uint32_t slot) override {
    Nanoseconds elapsed{0};
    return Run(slot, &elapsed);
  }
  Result<bool> MeasuredCall(std::uint32_t slot) override;
  bool GuardsHold(std::uint32_t slot) override;

  Comparison Compare(std::uint32_t slot, const std::vector<Tolerance>& tolerances) override {
    return stage_.CompareSlot(*worker_, slot, tolerances);
  }
  bool Official(std::uint32_t slot) override { return stage_.Official(*worker_, slot); }
  Result<void> Keep(std::uint32_t slot) override {
    kept_ = Outputs(slot);
    return {};
  }
  bool AsKept(std::uint32_t slot) override { return Outputs(slot) == kept_; }

 private:
  Result<bool> Run(std::uint32_t slot, Nanoseconds* elapsed);
  [[nodiscard]] std::vector<std::byte> Outputs(std::uint32_t slot) const;

  Stage& stage_;
  Judging& judging_;
  WorkerProcess* worker_ = nullptr;
  std::vector<std::byte> kept_;
};

Result<bool> HostCalls::MeasuredCall(std::uint32_t slot) {
  Nanoseconds elapsed{0};
  if (!TRY(Run(slot, &elapsed))) return false;
  Nanoseconds doorbell{0};
  const std::array<std::uint32_t, 1> sets{slot};
  if (auto failure = TRY(worker_->RunEmpty(sets, &doorbell))) {
    judging_.Reject(*failure);
    return false;
  }
  judging_.run_seconds = std::min(judging_.run_seconds, Seconds(elapsed).count());
  judging_.empty_seconds = std::min(judging_.empty_seconds, Seconds(doorbell).count());
  judging_.compare_seconds = 0;
  return true;
}

// Poison, pragma_prepare, the kernel.
Result<bool> HostCalls::Run(std::uint32_t slot, Nanoseconds* elapsed) {
  const std::array<std::uint32_t, 1> sets{slot};
  worker_->Poison(judging_.rng, sets);
  std::optional<WorkerFailure> failure;
  if (judging_.kernel->has_prepare) {
    Nanoseconds prepare{0};
    failure = TRY(worker_->Prepare(sets, &prepare));
    judging_.evaluation.prepare_ms = Seconds(prepare).count() * 1e3;
  }
  if (!failure) failure = TRY(worker_->Run(sets, elapsed));
  if (failure) judging_.Reject(*failure);
  return !failure;
}

bool HostCalls::GuardsHold(std::uint32_t slot) {
  const auto broken = worker_->BrokenGuard(slot);
  if (!broken) return true;
  judging_.Note("guards", "fail", *broken);
  judging_.Reject(Status::kCrashed, "wrote outside its output " + *broken);
  return false;
}

std::vector<std::byte> HostCalls::Outputs(std::uint32_t slot) const {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < stage_.task().outputs.size(); ++i) {
    const auto output = worker_->output(slot, i);
    all.insert(all.end(), output.begin(), output.end());
  }
  return all;
}

class ValueCheck final {
 public:
  ValueCheck(const JudgeParts& parts, Judging& judging, const VerifyProgress& progress)
      : parts_(parts),
        judging_(judging),
        calls_(parts, judging),
        policy_(calls_, judging, parts.options, progress) {}

  Result<void> Run();
  Result<void> RunNominal();
  Result<void> RunDrawn();

 private:
  Result<WorkerProcess> Start();

  const JudgeParts& parts_;
  Judging& judging_;
  HostCalls calls_;
  ValuePolicy policy_;
};

Result<void> ValueCheck::Run() {
  parts_.stage.ForgetTolerances();
  {
    WorkerProcess worker = TRY(Start());
    if (judging_.failed()) return {};
    calls_.Use(worker);
    TRY(policy_.NominalSets());
    if (!judging_.failed()) TRY(policy_.Again("in the same process"));
  }
  if (judging_.failed()) return {};
  WorkerProcess fresh = TRY(Start());
  calls_.Use(fresh);
  if (!judging_.failed()) TRY(policy_.Again("in a fresh process"));
  if (!judging_.failed() && policy_.strict()) TRY(policy_.Batteries());
  if (!judging_.failed()) policy_.Summarise();
  return {};
}

// The first set last, so that it is the one that lies in slot 0.
Result<void> ValueCheck::RunNominal() {
  parts_.stage.ForgetTolerances();
  WorkerProcess worker = TRY(Start());
  calls_.Use(worker);
  for (int i = parts_.options.check_sets - 1; i >= 0 && !judging_.failed(); --i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    TRY(policy_.NominalSet(i));
  }
  return {};
}

// Twice: the first call faults pages in and starts threads, and says little of the kernel's time.
Result<void> ValueCheck::RunDrawn() {
  WorkerProcess worker = TRY(Start());
  calls_.Use(worker);
  for (int call = 0; call < 2 && !judging_.failed(); ++call) TRY(policy_.JudgeCall(0, 0));
  return {};
}

// When loading fails the evaluation says so.
Result<WorkerProcess> ValueCheck::Start() {
  const PhaseTimer timer(judging_.evaluation, "load");
  WorkerProcess worker =
      TRY(WorkerProcess::Start(parts_.jail, parts_.libraries, *judging_.kernel, parts_.stage.task(),
                               parts_.stage.ring(), parts_.worker));
  if (auto failure = TRY(worker.Load())) judging_.Reject(*failure);
  return worker;
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
