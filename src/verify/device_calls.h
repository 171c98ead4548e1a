// DeviceCalls: the checked calls of a candidate on a device. The referee examines the outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "harness/dead_stacks.h"
#include "harness/device_worker.h"
#include "harness/worker_process.h"
#include "verify/checked_calls.h"
#include "verify/device_stage.h"
#include "verify/options.h"

namespace pragma {

struct Judging;

// What the processes of a check are started with. All references are borrowed and must outlive the
// evaluation.
struct DeviceParts {
  DeviceStage& stage;
  // The processes that were checked. They are killed when they have done their part, but waited for
  // only once the evaluation is over, because a context takes tenths of a second to end.
  std::list<DeviceWorker>& checked;
  DeviceProgram program;  // what the candidate's processes are started from
  const VerifyOptions& options;
  WorkerOptions worker;
  // Called once the first processes have their contexts, which the driver makes one at a time.
  // Starts everything that is to run at the same time as the checks.
  std::function<Result<void>()> once_loaded;
  // Called before the check for state, during which no other process may use the device.
  std::function<Result<void>(Judging&)> be_alone;
};

class DeviceCalls final : public CheckedCalls {
 public:
  DeviceCalls(DeviceParts parts, Judging& judging) : parts_(std::move(parts)), judging_(judging) {}
  ~DeviceCalls() override;

  // Starts and loads both processes when the first one is asked for.
  Result<bool> Start(History history) override;
  void Choose(History history) override { worker_ = history == History::kUsed ? used_ : pristine_; }
  [[nodiscard]] TimedProcess& process() override { return *worker_; }
  Result<void> BeforeState() override { return parts_.be_alone(judging_); }
  [[nodiscard]] Seconds StateBudget() const override;

  Result<bool> Call(std::uint32_t slot) override;
  Result<bool> MeasuredCall(std::uint32_t slot) override;
  Result<bool> CallOnKept(std::uint32_t slot) override { return MeasuredCall(slot); }
  Result<void> Refill(std::uint32_t slot) override;
  Result<bool> CallMany(std::span<const std::uint32_t> slots) override;
  Result<void> Publish(std::uint32_t slot) override;
  Result<std::vector<std::byte>> ReadKept(Kept where) override;
  Result<bool> WriteKept(Kept where, std::span<const std::byte> kept) override;

 private:
  Result<DeviceWorker*> Begin();
  Result<bool> LoadBoth();
  bool Failed(const ProcessFailure& failure);

  DeviceParts parts_;
  Judging& judging_;
  DeviceWorker* worker_ = nullptr;  // the process that makes the calls
  DeviceWorker* used_ = nullptr;
  DeviceWorker* pristine_ = nullptr;
  std::optional<DeadStacks> stacks_;  // stacks of the launching process, once they were read
};

}  // namespace pragma
