#include "verify/device_side.h"

#include <cstddef>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "harness/device_worker.h"
#include "harness/timed_process.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "verify/device_stage.h"
#include "verify/timed_sides.h"

namespace pragma {
namespace {

constexpr TimerProcess::Limits kTorchLimits{.load = Seconds{300}, .burst = Seconds{60}};

using Ready = Result<ProcessFailure>;

Ready MakeReady(TimedProcess& process) {
  if (ProcessFailure failure = TRY(process.Load())) return failure;
  return process.Freeze();
}

}  // namespace

struct DeviceSide::State {
  SideRole role = SideRole::kCandidate;
  std::vector<std::unique_ptr<TimedProcess>> processes;
  std::vector<std::future<Ready>> loading;  // destroyed first: they use `processes`

  explicit State(SideRole of) : role(of) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  // Processes that are still loading are killed, not waited for.
  ~State() {
    for (const auto& process : processes) process->Kill();
  }
  void Load() {
    for (const auto& process : processes) {
      loading.push_back(
          std::async(std::launch::async, [own = process.get()] { return MakeReady(*own); }));
    }
  }
};

DeviceSide::DeviceSide(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceSide::DeviceSide(DeviceSide&&) noexcept = default;
DeviceSide& DeviceSide::operator=(DeviceSide&&) noexcept = default;
DeviceSide::~DeviceSide() = default;

SideRole DeviceSide::role() const { return state_->role; }
std::vector<std::unique_ptr<TimedProcess>>& DeviceSide::processes() { return state_->processes; }

Result<DeviceSide> DeviceSide::OfTorch(DeviceStage& stage, TimerMode mode) {
  auto state =
      std::make_unique<State>(mode == TimerMode::kCompile ? SideRole::kCompile : SideRole::kEager);
  for (std::size_t i = 0; i < kDeviceProcesses; ++i) {
    state->processes.push_back(std::make_unique<TimerProcess>(TRY(TimerProcess::StartOnDevice(
        stage.server(), stage.referee(), AreaNumber(state->role), mode, kTorchLimits))));
  }
  state->Load();
  return DeviceSide(std::move(state));
}

Result<DeviceSide> DeviceSide::OfModule(DeviceStage& stage, const DeviceProgram& program,
                                        const WorkerOptions& options, SideRole role) {
  auto state = std::make_unique<State>(role);
  for (std::size_t i = 0; i < kDeviceProcesses; ++i) {
    state->processes.push_back(std::make_unique<DeviceWorker>(
        TRY(DeviceWorker::Start(program, stage.referee(), AreaNumber(role), options))));
  }
  state->Load();
  return DeviceSide(std::move(state));
}

void DeviceSide::Settle() const {
  for (const std::future<Ready>& loading : state_->loading) loading.wait();
}

Result<ProcessFailure> DeviceSide::Await() {
  Ready first = ProcessFailure();
  for (std::future<Ready>& loading : state_->loading) {
    Ready ready = loading.get();
    if (first && !*first) first = std::move(ready);
  }
  state_->loading.clear();
  return first;
}

}  // namespace pragma
