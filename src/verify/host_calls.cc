#include "verify/host_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "harness/dead_stacks.h"
#include "harness/timed_process.h"
#include "harness/worker_process.h"
#include "verify/judging.h"

namespace pragma {

// A process of a Python candidate imports torch before it can load anything. The second one is
// therefore started with the first, so that they import at the same time.
Result<bool> HostCalls::Start(History history) {
  if (history == History::kPristine && !pristine_) return StartIn(pristine_, parts_.worker);
  if (history == History::kPristine) return Load(*pristine_);
  const bool python = judging_.kernel->python != nullptr;
  pristine_.reset();
  if (python) pristine_ = TRY(Spawn(parts_.worker));
  return StartIn(used_, parts_.worker);
}

// When loading fails, the evaluation says so.
Result<bool> HostCalls::StartIn(std::optional<WorkerProcess>& place, const WorkerOptions& options) {
  place.reset();
  place = TRY(Spawn(options));
  return Load(*place);
}

Result<WorkerProcess> HostCalls::Spawn(const WorkerOptions& options) {
  const PhaseTimer timer(judging_.evaluation, "load");
  return WorkerProcess::Start(parts_.jail, parts_.libraries, *judging_.kernel, parts_.stage.task(),
                              parts_.stage.ring(), options);
}

Result<bool> HostCalls::Load(WorkerProcess& worker) {
  const PhaseTimer timer(judging_.evaluation, "load");
  worker_ = &worker;
  const ProcessFailure failure = TRY(worker.Load());
  if (failure) judging_.Reject(*failure);
  return !failure;
}

void HostCalls::Choose(History history) {
  other_.reset();
  worker_ = history == History::kUsed ? &*used_ : &*pristine_;
}

// Threads that are not bound to processors and other numbers of them, as a user may have: fewer
// than were requested, and as many as a server has.
std::vector<WorkerOptions> HostCalls::OtherOptions() const {
  if (!judging_.kernel->openmp) return {};
  constexpr int kAskedFor = 5, kGiven = 3, kMany = 24;  // none is a power of two
  WorkerOptions fewer = parts_.worker;
  fewer.bound = false;
  fewer.threads = kAskedFor;
  fewer.thread_limit = kGiven;
  WorkerOptions many = fewer;
  many.threads = std::max(kMany, parts_.worker.threads);
  many.thread_limit = 0;
  return {fewer, many};
}

std::vector<std::string> HostCalls::OtherThreads() const {
  std::vector<std::string> words;
  for (const WorkerOptions& options : OtherOptions()) {
    words.push_back(options.thread_limit == 0
                        ? fmt::format("with {} OpenMP threads", options.threads)
                        : fmt::format("with {} OpenMP threads where {} were asked for",
                                      options.thread_limit, options.threads));
  }
  return words;
}

Result<bool> HostCalls::StartWith(std::size_t threads) {
  return StartIn(other_, OtherOptions().at(threads));
}

Result<bool> HostCalls::MeasuredCall(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> sets{slot};
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

// Batteries have other parameters, so they are prepared again. The next call detects a failure.
Result<void> HostCalls::Refill(std::uint32_t slot) {
  worker_->FillOutputs(judging_.rng, slot, WorkerProcess::Prefill::kRandom);
  return Publish(slot);
}

Result<bool> HostCalls::CallMany(std::span<const std::uint32_t> slots) {
  Nanoseconds elapsed{0};
  return Run(slots, &elapsed);
}

// The values are already in the ring.
Result<void> HostCalls::Publish(std::uint32_t slot) {
  TRY(Prepare(slot));
  return {};
}

Result<std::vector<std::byte>> HostCalls::ReadKept(Kept where) {
  if (where == Kept::kOwn) return worker_->ReadKept();
  // A Python candidate's stacks are an interpreter's.
  if (judging_.kernel->python != nullptr) return std::vector<std::byte>();
  if (!stacks_) stacks_ = DeadStacks::Of(worker_->peer().pid());
  return stacks_->Read();
}

Result<bool> HostCalls::WriteKept(Kept where, std::span<const std::byte> kept) {
  return where == Kept::kOwn ? worker_->WriteKept(kept) : stacks_ && stacks_->Write(kept);
}

// Returns false when the candidate failed.
Result<bool> HostCalls::Prepare(std::uint32_t slot) {
  if (!judging_.kernel->has_prepare) return true;
  const std::array<std::uint32_t, 1> sets{slot};
  Nanoseconds prepare{0};
  const ProcessFailure failure = TRY(worker_->Prepare(sets, &prepare));
  judging_.evaluation.prepare_ms = Seconds(prepare).count() * 1e3;
  if (failure) judging_.Reject(*failure);
  return !failure;
}

Result<bool> HostCalls::Run(std::span<const std::uint32_t> slots, Nanoseconds* elapsed) {
  const ProcessFailure failure = TRY(worker_->Run(slots, elapsed));
  if (failure) judging_.Reject(*failure);
  return !failure;
}

}  // namespace pragma
