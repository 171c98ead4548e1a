#include "verify/value_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "core/status.h"
#include "harness/dead_stacks.h"
#include "harness/worker_process.h"
#include "verify/batteries.h"
#include "verify/comparator.h"
#include "verify/judging.h"
#include "verify/stage.h"
#include "verify/state_check.h"
#include "verify/value_policy.h"

namespace pragma {
namespace {

// Calls of a worker. Its outputs are in memory that we can read.
class HostCalls final : public CheckedCalls {
 public:
  HostCalls(const JudgeParts& parts, Judging& judging) : stage_(parts.stage), judging_(judging) {}
  // Sets the process that makes the calls from now on. It must outlive this object.
  void Use(WorkerProcess& worker) { worker_ = &worker; }
  // Sets the two processes between which Choose selects.
  void Between(WorkerProcess& used, WorkerProcess& pristine) {
    used_ = &used;
    pristine_ = &pristine;
  }

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
  Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng, std::uint32_t slot) override {
    return stage_.DrawBattery(wish, rng, slot);
  }
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::uint32_t slot) const override {
    return stage_.Tolerances(slot);
  }
  Result<Comparison> SecondOpinion(std::uint32_t slot, std::vector<Tolerance> tolerances,
                                   Rng& rng) override {
    return stage_.SecondOpinion(*worker_, slot, std::move(tolerances), rng);
  }

  Result<std::string> WrongSmallValues(std::uint32_t slot, Rng& rng) override {
    return stage_.WrongSmallValues(*worker_, slot, rng);
  }

  Result<bool> Call(std::uint32_t slot) override;
  void Choose(History history) override { worker_ = history == History::kUsed ? used_ : pristine_; }
  Result<bool> CallOnKept(std::uint32_t slot) override;
  Result<void> Refill(std::uint32_t slot) override {
    worker_->FillOutputs(judging_.rng, slot, WorkerProcess::Prefill::kRandom);
    TRY(Prepare(slot));  // batteries have other parameters; the next call detects a failure
    return {};
  }
  Result<bool> CallMany(std::span<const std::uint32_t> slots) override {
    Nanoseconds elapsed{0};
    return Run(slots, &elapsed);
  }
  Result<void> Publish(std::uint32_t slot) override {  // the values are already in the ring
    TRY(Prepare(slot));
    return {};
  }
  Result<void> LookAt(std::uint32_t /*slot*/) override { return {}; }  // we can read the outputs
  Result<std::vector<std::byte>> ReadKept(Kept where) override;
  Result<bool> WriteKept(Kept where, std::span<const std::byte> kept) override {
    return where == Kept::kOwn ? worker_->WriteKept(kept) : stacks_ && stacks_->Write(kept);
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
  Result<bool> Prepare(std::uint32_t slot);
  Result<bool> Run(std::span<const std::uint32_t> slots, Nanoseconds* elapsed);
  [[nodiscard]] std::vector<std::byte> Outputs(std::uint32_t slot) const;

  Stage& stage_;
  Judging& judging_;
  WorkerProcess* worker_ = nullptr;
  WorkerProcess* used_ = nullptr;
  WorkerProcess* pristine_ = nullptr;
  std::optional<DeadStacks> stacks_;  // stacks of the used process, once they were read
  std::vector<std::byte> kept_;
};

Result<bool> HostCalls::MeasuredCall(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> sets{slot};
  worker_->Poison(judging_.rng, sets);
  Nanoseconds elapsed{0};
  if (!TRY(Prepare(slot)) || !TRY(Run(sets, &elapsed))) return false;
  Nanoseconds doorbell{0};
  if (auto failure = TRY(worker_->RunEmpty(sets, &doorbell))) {
    judging_.Reject(*failure);
    return false;
  }
  judging_.run_seconds = std::min(judging_.run_seconds, Seconds(elapsed).count());
  judging_.empty_seconds = std::min(judging_.empty_seconds, Seconds(doorbell).count());
  judging_.compare_seconds = 0;
  return true;
}

// Half of the calls, chosen at random, find random bytes in registers, dead stack and freed memory.
// A kernel that can detect this must not gain by it. Outputs hold random numbers, or zeros as new
// pages do.
Result<bool> HostCalls::Call(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> sets{slot};
  worker_->Poison(judging_.rng, sets);
  const std::uint64_t chance = judging_.rng();
  if ((chance & 3U) == 0) worker_->FillOutputs(judging_.rng, slot, WorkerProcess::Prefill::kZeros);
  Nanoseconds elapsed{0};
  if (!TRY(Prepare(slot))) return false;
  if ((chance & 4U) != 0) worker_->ScrambleNext(static_cast<std::uint32_t>(chance >> 32U) | 1U);
  return Run(sets, &elapsed);
}

Result<bool> HostCalls::CallOnKept(std::uint32_t slot) {
  worker_->FillOutputs(judging_.rng, slot, WorkerProcess::Prefill::kRandom);
  Nanoseconds elapsed{0};
  const std::array<std::uint32_t, 1> sets{slot};
  return TRY(Prepare(slot)) && TRY(Run(sets, &elapsed));
}

Result<std::vector<std::byte>> HostCalls::ReadKept(Kept where) {
  if (where == Kept::kOwn) return worker_->ReadKept();
  // A Python candidate's stacks are an interpreter's.
  if (judging_.kernel->python != nullptr) return std::vector<std::byte>();
  if (!stacks_) stacks_ = DeadStacks::Of(worker_->peer().pid());
  return stacks_->Read();
}

// Returns false when the candidate failed.
Result<bool> HostCalls::Prepare(std::uint32_t slot) {
  if (!judging_.kernel->has_prepare) return true;
  const std::array<std::uint32_t, 1> sets{slot};
  Nanoseconds prepare{0};
  const std::optional<WorkerFailure> failure = TRY(worker_->Prepare(sets, &prepare));
  judging_.evaluation.prepare_ms = Seconds(prepare).count() * 1e3;
  if (failure) judging_.Reject(*failure);
  return !failure;
}

Result<bool> HostCalls::Run(std::span<const std::uint32_t> slots, Nanoseconds* elapsed) {
  const std::optional<WorkerFailure> failure = TRY(worker_->Run(slots, elapsed));
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
  Result<WorkerProcess> Start(const WorkerOptions& options);
  Result<void> RunStrict(WorkerProcess& used, WorkerProcess& pristine);
  Result<void> OtherThreads();
  Result<void> AgainWithThreads(const WorkerOptions& options, const std::string& where);

  const JudgeParts& parts_;
  Judging& judging_;
  HostCalls calls_;
  ValuePolicy policy_;
};

Result<void> ValueCheck::Run() {
  parts_.stage.ForgetTolerances();
  WorkerProcess used = TRY(Start(parts_.worker));
  if (judging_.failed()) return {};
  calls_.Use(used);
  TRY(policy_.NominalSets());
  if (!judging_.failed()) TRY(policy_.Again("in the same process"));
  if (judging_.failed()) return {};
  WorkerProcess pristine = TRY(Start(parts_.worker));
  calls_.Use(pristine);
  if (!judging_.failed()) TRY(policy_.Again("in a fresh process"));
  if (!judging_.failed() && policy_.strict()) TRY(RunStrict(used, pristine));
  if (!judging_.failed()) policy_.Summarise();
  return {};
}

Result<void> ValueCheck::RunStrict(WorkerProcess& used, WorkerProcess& pristine) {
  TRY(OtherThreads());
  if (judging_.failed()) return {};
  calls_.Use(pristine);
  TRY(policy_.Batteries());
  if (judging_.failed()) return {};
  calls_.Between(used, pristine);
  return StateCheck(calls_, policy_, judging_, parts_.options.state_budget).Run();
}

// Checks with threads that are not bound to processors and with other numbers of them, as a user
// may have: fewer than were requested, and as many as a server has.
Result<void> ValueCheck::OtherThreads() {
  if (!judging_.kernel->openmp) return {};
  constexpr int kAskedFor = 5, kGiven = 3, kMany = 24;  // none is a power of two
  WorkerOptions options = parts_.worker;
  options.bound = false;
  options.threads = kAskedFor;
  options.thread_limit = kGiven;
  TRY(AgainWithThreads(
      options, fmt::format("with {} OpenMP threads where {} were asked for", kGiven, kAskedFor)));
  if (judging_.failed()) return {};
  options.threads = std::max(kMany, parts_.worker.threads);
  options.thread_limit = 0;
  return AgainWithThreads(options, fmt::format("with {} OpenMP threads", options.threads));
}

Result<void> ValueCheck::AgainWithThreads(const WorkerOptions& options, const std::string& where) {
  WorkerProcess worker = TRY(Start(options));
  if (judging_.failed()) return {};
  calls_.Use(worker);
  return policy_.Again(where);
}

// Checks the first set last, so that it remains in slot 0.
Result<void> ValueCheck::RunNominal() {
  parts_.stage.ForgetTolerances();
  WorkerProcess worker = TRY(Start(parts_.worker));
  calls_.Use(worker);
  for (int i = parts_.options.check_sets - 1; i >= 0 && !judging_.failed(); --i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    TRY(policy_.NominalSet(i));
  }
  return {};
}

// Calls the kernel twice. The first call faults pages in and starts threads, so it says little
// about the kernel's time.
Result<void> ValueCheck::RunDrawn() {
  WorkerProcess worker = TRY(Start(parts_.worker));
  calls_.Use(worker);
  for (int call = 0; call < 2 && !judging_.failed(); ++call) TRY(policy_.JudgeCall(0, 0));
  return {};
}

// Starts a process and loads the kernel. When loading fails, the evaluation says so.
Result<WorkerProcess> ValueCheck::Start(const WorkerOptions& options) {
  const PhaseTimer timer(judging_.evaluation, "load");
  WorkerProcess worker =
      TRY(WorkerProcess::Start(parts_.jail, parts_.libraries, *judging_.kernel, parts_.stage.task(),
                               parts_.stage.ring(), options));
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
