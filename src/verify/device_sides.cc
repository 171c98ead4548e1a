#include "verify/device_sides.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "harness/timed_process.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/judging.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"

namespace pragma {
namespace {

constexpr std::array<std::uint32_t, 1> kFirstSlot{0};

// Makes the first call of a module's process, which compiles the module or finds it compiled.
Result<ProcessFailure> FirstCall(TimedProcess& process) {
  Nanoseconds elapsed{0};
  TRY(process.Thaw());
  if (ProcessFailure failure = TRY(process.Run(kFirstSlot, &elapsed))) return failure;
  return process.Freeze();
}

// Keeps the first failure.
void Note(std::optional<TimingFailure>& failed, std::size_t side, ProcessFailure failure) {
  if (failed || !failure) return;
  failed = TimingFailure{.side = side, .failure = std::move(*failure), .error = {}};
}

}  // namespace

Result<std::optional<TimingFailure>> DeviceSides::BecomeReady(Judging& judging) {
  const PhaseTimer timer(judging.evaluation, "time_ready");
  std::optional<TimingFailure> failed = TRY(AwaitAll());
  if (failed) return failed;
  return FirstCalls(judging.rng);
}

// torch.compile may not support a module. That is not the candidate's fault.
Result<std::optional<TimingFailure>> DeviceSides::AwaitAll() {
  std::optional<TimingFailure> failed;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Result<ProcessFailure> ready = parts_[i].Await();
    if (!ready && sides_[i].role == SideRole::kCompile) {
      left_out_[i] = ready.error().message;
      continue;
    }
    if (!ready) return std::unexpected(ready.error());
    Note(failed, i, std::move(*ready));
  }
  return failed;
}

// Makes the first calls of all module processes in parallel. They find what the checks have
// compiled.
Result<std::optional<TimingFailure>> DeviceSides::FirstCalls(Rng& rng) {
  std::vector<std::pair<std::size_t, std::future<Result<ProcessFailure>>>> calls;
  TRY(stage_.RenewSets(kFirstSlot, rng));
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (sides_[i].is_torch()) continue;
    TRY(stage_.Put(AreaNumber(sides_[i].role), kFirstSlot, rng));
    for (const std::unique_ptr<TimedProcess>& process : parts_[i].processes()) {
      calls.emplace_back(
          i, std::async(std::launch::async, [own = process.get()] { return FirstCall(*own); }));
    }
  }
  std::optional<TimingFailure> failed;
  for (auto& [side, call] : calls) Note(failed, side, TRY(call.get()));
  return failed;
}

Result<std::optional<TimingFailure>> DeviceSides::StartRound(const TimingPlan& /*plan*/,
                                                             Rng& /*rng*/) {
  ++round_;
  return std::optional<TimingFailure>();
}

// Releases the memory that this round's Torch processes have used, so that the next ones can use
// it.
Result<void> DeviceSides::EndRound() {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (!sides_[i].is_torch() || !left_out_[i].empty()) continue;
    TimedProcess& torch = process(i);
    TRY(torch.Thaw());
    TRY(torch.Release());
    TRY(torch.Freeze());
  }
  return {};
}

}  // namespace pragma
