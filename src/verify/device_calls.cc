#include "verify/device_calls.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "harness/dead_stacks.h"
#include "harness/device_worker.h"
#include "harness/timed_process.h"
#include "task/referee.h"
#include "verify/device_stage.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {
namespace {

// Factors on the budget of the state check. Launches take longer than calls on a host, and looking
// at a result takes much longer. Attempts of a search, which are judged quickly, have less time.
constexpr double kDeviceFactor = 8;
constexpr double kQuickFactor = 2;
constexpr Seconds kQuickBatteries{5};

}  // namespace

DeviceCalls::~DeviceCalls() {
  if (used_ != nullptr) used_->Kill();
  if (pristine_ != nullptr) pristine_->Kill();
}

Seconds DeviceCalls::StateBudget() const {
  const bool quick = parts_.options.battery_budget < kQuickBatteries;
  return parts_.options.state_budget * (quick ? kQuickFactor : kDeviceFactor);
}

Result<bool> DeviceCalls::Start(History history) {
  if (history == History::kUsed) {
    used_ = TRY(Begin());
    pristine_ = TRY(Begin());
    if (!TRY(LoadBoth())) return false;
    if (parts_.once_loaded) TRY(parts_.once_loaded());
  }
  Choose(history);
  return true;
}

Result<DeviceWorker*> DeviceCalls::Begin() {
  const PhaseTimer timer(judging_.evaluation, "load");
  DeviceWorker started = TRY(
      DeviceWorker::Start(parts_.program, parts_.stage.referee(), kCandidateArea, parts_.worker));
  return &parts_.checked.emplace_back(std::move(started));
}

// Loads both processes in parallel, because contexts and the inspection of the module take tenths
// of a second. When one of them fails, the evaluation says so.
Result<bool> DeviceCalls::LoadBoth() {
  const PhaseTimer timer(judging_.evaluation, "load");
  auto loading = std::async(std::launch::async, [this] { return pristine_->Load(); });
  const ProcessFailure first = TRY(used_->Load());
  const ProcessFailure second = TRY(loading.get());
  return !Failed(first ? first : second);
}

bool DeviceCalls::Failed(const ProcessFailure& failure) {
  if (failure) judging_.Reject(*failure);
  return failure.has_value();
}

Result<bool> DeviceCalls::MeasuredCall(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> sets{slot};
  TRY(parts_.stage.Put(kCandidateArea, sets, judging_.rng));
  Nanoseconds elapsed{0};
  Nanoseconds doorbell{0};
  if (Failed(TRY(worker_->Wake()))) return false;
  if (Failed(TRY(worker_->Run(sets, &elapsed)))) return false;
  if (Failed(TRY(worker_->RunEmpty(sets, &doorbell)))) return false;
  judging_.run_seconds = std::min(judging_.run_seconds, Seconds(elapsed).count());
  judging_.empty_seconds = std::min(judging_.empty_seconds, Seconds(doorbell).count());
  const TimePoint before = std::chrono::steady_clock::now();
  TRY(parts_.stage.LookAt(*worker_, sets));
  judging_.compare_seconds = Since(before).count();
  return true;
}

// Half of the calls, chosen at random, find random bytes where other calls left something: in
// registers, shared and local memory, scratch and freed blocks.
Result<bool> DeviceCalls::Call(std::uint32_t slot) {
  const std::uint64_t chance = judging_.rng();
  if ((chance & 1U) == 0) return MeasuredCall(slot);
  const std::array<std::uint32_t, 1> sets{slot};
  TRY(parts_.stage.Put(kCandidateArea, sets, judging_.rng));
  Nanoseconds elapsed{0};
  worker_->ScrambleNext(static_cast<std::uint32_t>(chance >> 32U) | 1U);
  if (Failed(TRY(worker_->Run(sets, &elapsed)))) return false;
  TRY(parts_.stage.LookAt(*worker_, sets));
  return true;
}

// Refills the slot's outputs, and also the arguments of every slot that was renewed. From now on
// only the candidate may use the device, because its multiprocessors keep what the candidate leaves
// in them.
Result<void> DeviceCalls::Refill(std::uint32_t slot) {
  return parts_.stage.PutAllFresh(slot, judging_.rng);
}

Result<bool> DeviceCalls::CallMany(std::span<const std::uint32_t> slots) {
  Nanoseconds elapsed{0};
  return !Failed(TRY(worker_->Run(slots, &elapsed)));
}

Result<void> DeviceCalls::Publish(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> slots{slot};
  return parts_.stage.Put(kCandidateArea, slots, judging_.rng, Referee::Outputs::kLeft);
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

}  // namespace pragma
