#include "verify/device_check.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/check.h"
#include "core/status.h"
#include "harness/dead_stacks.h"
#include "harness/device_worker.h"
#include "task/referee.h"
#include "verify/batteries.h"
#include "verify/comparator.h"
#include "verify/device_stage.h"
#include "verify/judging.h"
#include "verify/stage.h"
#include "verify/state_check.h"
#include "verify/value_policy.h"

namespace pragma {
namespace {

// Factors on the budget of the state check. Launches take longer than calls on a host, and looking
// at a result takes much longer. Attempts of a search, which are judged quickly, have less time.
constexpr double kDeviceFactor = 8;
constexpr double kQuickFactor = 2;
constexpr Seconds kQuickBatteries{5};

double StateFactor(const VerifyOptions& options) {
  return options.battery_budget < kQuickBatteries ? kQuickFactor : kDeviceFactor;
}

using Loaded = Result<std::optional<WorkerFailure>>;

// Calls of a module. The referee examines the outputs.
class DeviceCalls final : public CheckedCalls {
 public:
  DeviceCalls(DeviceStage& stage, Judging& judging) : stage_(stage), judging_(judging) {}
  // Sets the process that makes the calls from now on. It must outlive this object.
  void Use(DeviceWorker& worker) { worker_ = &worker; }

  [[nodiscard]] const Task& task() const override { return stage_.task(); }
  [[nodiscard]] std::size_t sets() const override { return stage_.size().sets; }
  Result<void> DrawSet(std::size_t draw, std::uint64_t seed, std::uint32_t slot) override {
    stale_.insert(slot);
    return stage_.DrawSet(draw, seed, slot);
  }
  Result<void> RestoreSet(std::size_t draw, std::uint32_t slot) override {
    stale_.insert(slot);
    return stage_.RestoreSet(draw, slot);
  }
  Result<void> Expect(std::uint32_t) override { return {}; }  // the referee has kept them
  Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng, std::uint32_t slot) override {
    stale_.insert(slot);
    return stage_.DrawBattery(wish, rng, slot);
  }
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::uint32_t slot) const override {
    return stage_.Tolerances(slot);
  }
  Result<Comparison> SecondOpinion(std::uint32_t slot, std::vector<Tolerance> tolerances,
                                   Rng& rng) override {
    return stage_.SecondOpinion(kCandidateArea, slot, std::move(tolerances), rng);
  }

  Result<std::string> WrongSmallValues(std::uint32_t slot, Rng& rng) override {
    return stage_.WrongSmallValues(kCandidateArea, slot, rng);
  }
  // Sets the two processes between which Choose selects.
  void Between(DeviceWorker& used, DeviceWorker& pristine) {
    used_ = &used;
    pristine_ = &pristine;
  }

  Result<bool> Call(std::uint32_t slot) override;
  void Choose(History history) override { worker_ = history == History::kUsed ? used_ : pristine_; }
  Result<bool> CallOnKept(std::uint32_t slot) override { return MeasuredCall(slot); }
  Result<void> Refill(std::uint32_t slot) override;
  Result<bool> CallMany(std::span<const std::uint32_t> slots) override;
  Result<void> LookAt(std::uint32_t slot) override;
  Result<void> Publish(std::uint32_t slot) override;
  Result<std::vector<std::byte>> ReadKept(Kept where) override;
  Result<bool> WriteKept(Kept where, std::span<const std::byte> kept) override;
  Result<bool> MeasuredCall(std::uint32_t slot) override;
  bool GuardsHold(std::uint32_t slot) override;

  Comparison Compare(std::uint32_t /*slot*/, const std::vector<Tolerance>& tolerances) override {
    return stage_.Judge(left_, tolerances);
  }
  bool Official(std::uint32_t /*slot*/) override { return left_.official; }
  Result<void> Keep(std::uint32_t slot) override {
    return stage_.referee().Keep(kCandidateArea, slot);
  }
  bool AsKept(std::uint32_t /*slot*/) override { return left_.as_kept; }

 private:
  bool Failed(const std::optional<WorkerFailure>& failure);

  DeviceStage& stage_;
  Judging& judging_;
  DeviceWorker* worker_ = nullptr;
  DeviceWorker* used_ = nullptr;
  DeviceWorker* pristine_ = nullptr;
  SlotFigures left_;                  // what the last call left
  std::optional<DeadStacks> stacks_;  // stacks of the launching process, once they were read
  std::set<std::uint32_t> stale_;     // slots whose values are not in the area yet
};

bool DeviceCalls::Failed(const std::optional<WorkerFailure>& failure) {
  if (failure) judging_.Reject(*failure);
  return failure.has_value();
}

Result<bool> DeviceCalls::MeasuredCall(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> sets{slot};
  TRY(stage_.referee().Put(kCandidateArea, sets, judging_.rng() >> 1U));
  Nanoseconds elapsed{0};
  Nanoseconds doorbell{0};
  if (Failed(TRY(worker_->Wake()))) return false;
  if (Failed(TRY(worker_->Run(sets, &elapsed)))) return false;
  if (Failed(TRY(worker_->RunEmpty(sets, &doorbell)))) return false;
  judging_.run_seconds = std::min(judging_.run_seconds, Seconds(elapsed).count());
  judging_.empty_seconds = std::min(judging_.empty_seconds, Seconds(doorbell).count());
  const TimePoint before = std::chrono::steady_clock::now();
  left_ = std::move(TRY(stage_.referee().Compare(kCandidateArea, sets)).front());
  judging_.compare_seconds = Since(before).count();
  stale_.erase(slot);
  return true;
}

// Half of the calls, chosen at random, find random bytes where other calls left something: in
// registers, shared and local memory, scratch and freed blocks.
Result<bool> DeviceCalls::Call(std::uint32_t slot) {
  const std::uint64_t chance = judging_.rng();
  if ((chance & 1U) == 0) return MeasuredCall(slot);
  const std::array<std::uint32_t, 1> sets{slot};
  TRY(stage_.referee().Put(kCandidateArea, sets, judging_.rng() >> 1U));
  stale_.erase(slot);
  Nanoseconds elapsed{0};
  worker_->ScrambleNext(static_cast<std::uint32_t>(chance >> 32U) | 1U);
  if (Failed(TRY(worker_->Run(sets, &elapsed)))) return false;
  left_ = std::move(TRY(stage_.referee().Compare(kCandidateArea, sets)).front());
  return true;
}

// Refills the slot's outputs, and also the arguments of every slot that was renewed. From now on
// only the candidate may use the device, because its multiprocessors keep what the candidate leaves
// in them.
Result<void> DeviceCalls::Refill(std::uint32_t slot) {
  stale_.insert(slot);
  const std::vector<std::uint32_t> fresh(stale_.begin(), stale_.end());
  stale_.clear();
  return stage_.referee().Put(kCandidateArea, fresh, judging_.rng() >> 1U);
}

Result<bool> DeviceCalls::CallMany(std::span<const std::uint32_t> slots) {
  Nanoseconds elapsed{0};
  return !Failed(TRY(worker_->Run(slots, &elapsed)));
}

Result<void> DeviceCalls::Publish(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> slots{slot};
  stale_.erase(slot);
  return stage_.referee().Put(kCandidateArea, slots, judging_.rng() >> 1U, Referee::Outputs::kLeft);
}

Result<void> DeviceCalls::LookAt(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> last{slot};
  left_ = std::move(TRY(stage_.referee().Compare(kCandidateArea, last)).front());
  return {};
}

Result<std::vector<std::byte>> DeviceCalls::ReadKept(Kept where) {
  std::vector<std::byte> kept;
  if (where == Kept::kOwn) {
    if (Failed(TRY(worker_->ReadKept(&kept)))) kept.clear();
  } else if (worker_->native()) {
    if (!stacks_) stacks_ = DeadStacks::Of(worker_->pid());
    kept = stacks_->Read();
  }
  return kept;
}

Result<bool> DeviceCalls::WriteKept(Kept where, std::span<const std::byte> kept) {
  if (where == Kept::kStacks) return stacks_ && stacks_->Write(kept);
  return !Failed(TRY(worker_->WriteKept(kept)));
}

bool DeviceCalls::GuardsHold(std::uint32_t /*slot*/) {
  if (!left_.outside.empty()) {
    judging_.Note("guards", "fail", left_.outside);
    judging_.Reject(Status::kCrashed, "wrote outside its output " + left_.outside);
  } else if (!left_.written.empty()) {
    judging_.Note("inputs", "fail", left_.written);
    judging_.Reject(Status::kCrashed,
                    "wrote " + left_.written + "; inputs and parameters can only be read");
  }
  return !judging_.failed();
}

class DeviceCheck final {
 public:
  DeviceCheck(const DeviceParts& parts, Judging& judging, const VerifyProgress& progress)
      : parts_(parts),
        judging_(judging),
        calls_(parts.stage, judging),
        policy_(calls_, judging, parts.options, progress) {}

  Result<void> Run();

 private:
  Result<DeviceWorker*> Begin();
  Result<void> Check(DeviceWorker& worker, DeviceWorker& fresh);
  Result<void> Load(DeviceWorker& worker, DeviceWorker& fresh);
  Result<void> State(DeviceWorker& worker, DeviceWorker& fresh);

  const DeviceParts& parts_;
  Judging& judging_;
  DeviceCalls calls_;
  ValuePolicy policy_;
};

Result<void> DeviceCheck::Run() {
  parts_.stage.ForgetTolerances();
  DeviceWorker& worker = *TRY(Begin());
  DeviceWorker& fresh = *TRY(Begin());
  const Result<void> checked = Check(worker, fresh);
  worker.Kill();
  fresh.Kill();
  return checked;
}

Result<void> DeviceCheck::Check(DeviceWorker& worker, DeviceWorker& fresh) {
  TRY(Load(worker, fresh));
  if (judging_.failed()) return {};
  if (parts_.once_loaded) TRY(parts_.once_loaded());
  calls_.Use(worker);
  TRY(policy_.NominalSets());
  if (!judging_.failed()) TRY(policy_.Again("in the same process"));
  if (judging_.failed()) return {};
  calls_.Use(fresh);
  TRY(policy_.Again("in a fresh process"));
  if (!judging_.failed() && policy_.strict()) TRY(policy_.Batteries());
  if (!judging_.failed() && policy_.strict()) TRY(State(worker, fresh));
  if (!judging_.failed()) policy_.Summarise();
  return {};
}

// Checks for state while no other process uses the device. Shared and local memory keep what a
// kernel left there only until another process's kernels run. With other processes on the device, a
// kernel that reads such remains might never be caught.
Result<void> DeviceCheck::State(DeviceWorker& worker, DeviceWorker& fresh) {
  if (parts_.machine.device) {
    {
      const PhaseTimer timer(judging_.evaluation, "settle");
      parts_.settle();
    }
    TRY(parts_.turn.BeAlone(judging_.evaluation));
  }
  calls_.Between(worker, fresh);
  return StateCheck(calls_, policy_, judging_,
                    parts_.options.state_budget * StateFactor(parts_.options))
      .Run();
}

Result<DeviceWorker*> DeviceCheck::Begin() {
  const PhaseTimer timer(judging_.evaluation, "load");
  DeviceWorker started = TRY(
      DeviceWorker::Start(parts_.program, parts_.stage.referee(), kCandidateArea, parts_.worker));
  return &parts_.crew.checked.emplace_back(std::move(started));
}

// Loads both processes in parallel, because contexts and the inspection of the module take tenths
// of a second. When one of them fails, the evaluation says so.
Result<void> DeviceCheck::Load(DeviceWorker& worker, DeviceWorker& fresh) {
  const PhaseTimer timer(judging_.evaluation, "load");
  std::future<Loaded> loading = std::async(std::launch::async, [&fresh] { return fresh.Load(); });
  const std::optional<WorkerFailure> first = TRY(worker.Load());
  const std::optional<WorkerFailure> second = TRY(loading.get());
  if (first || second) judging_.Reject(first ? *first : *second);
  return {};
}

}  // namespace

Result<void> CheckOnDevice(const DeviceParts& parts, Judging& judging,
                           const VerifyProgress& progress) {
  return DeviceCheck(parts, judging, progress).Run();
}

}  // namespace pragma
