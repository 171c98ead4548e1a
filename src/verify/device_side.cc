#include "verify/device_side.h"

#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "harness/device_worker.h"
#include "harness/peer.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "verify/device_stage.h"

namespace pragma {
namespace {

// Processes per side, fresh for each session, because the unit of noise is the process.
constexpr std::size_t kDeviceProcesses = 5;
constexpr Seconds kTorchLimit{300};  // limit for building and compiling

using Ready = Result<std::optional<WorkerFailure>>;

Ready MakeTorchReady(TimerProcess& timer) {
  TRY(timer.Load(kTorchLimit));
  TRY(timer.peer().Freeze());
  return std::optional<WorkerFailure>();
}

Ready MakeModuleReady(DeviceWorker& worker) {
  if (auto failure = TRY(worker.Load())) return failure;
  return worker.Freeze();
}

}  // namespace

struct DeviceSide::State {
  DeviceArea area = DeviceArea::kCandidate;
  std::vector<DevicePlayer> players = std::vector<DevicePlayer>(kDeviceProcesses);
  std::vector<std::future<Ready>> loading;  // destroyed first: they use `players`

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  // Processes that are still loading are killed, not waited for.
  ~State() {
    for (DevicePlayer& player : players) {
      if (player.timer) player.timer->peer().Kill();
      if (player.worker) player.worker->Kill();
    }
  }
};

DeviceSide::DeviceSide(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceSide::DeviceSide(DeviceSide&&) noexcept = default;
DeviceSide& DeviceSide::operator=(DeviceSide&&) noexcept = default;
DeviceSide::~DeviceSide() = default;

DeviceArea DeviceSide::area() const { return state_->area; }
std::vector<DevicePlayer>& DeviceSide::players() { return state_->players; }

bool DeviceSide::is_torch() const {
  return area() == DeviceArea::kEager || area() == DeviceArea::kCompile;
}

std::string DeviceSide::name() const {
  switch (area()) {
    case DeviceArea::kCandidate: return "candidate";
    case DeviceArea::kEager: return "eager";
    case DeviceArea::kCompile: return "compile";
    case DeviceArea::kBest: return "best";
  }
  return "";
}

Result<DeviceSide> DeviceSide::OfTorch(DeviceStage& stage, TimerMode mode) {
  auto state = std::make_unique<State>();
  state->area = mode == TimerMode::kCompile ? DeviceArea::kCompile : DeviceArea::kEager;
  for (DevicePlayer& player : state->players) {
    player.timer = TRY(TimerProcess::StartOnDevice(stage.server(), stage.referee(),
                                                   AreaNumber(state->area), mode));
  }
  for (DevicePlayer& player : state->players) {
    state->loading.push_back(
        std::async(std::launch::async, [&player] { return MakeTorchReady(*player.timer); }));
  }
  return DeviceSide(std::move(state));
}

Result<DeviceSide> DeviceSide::OfModule(DeviceStage& stage, const DeviceProgram& program,
                                        const WorkerOptions& options, DeviceArea area) {
  auto state = std::make_unique<State>();
  state->area = area;
  for (DevicePlayer& player : state->players) {
    player.worker = TRY(DeviceWorker::Start(program, stage.referee(), AreaNumber(area), options));
  }
  for (DevicePlayer& player : state->players) {
    state->loading.push_back(
        std::async(std::launch::async, [&player] { return MakeModuleReady(*player.worker); }));
  }
  return DeviceSide(std::move(state));
}

void DeviceSide::Settle() const {
  for (const std::future<Ready>& loading : state_->loading) loading.wait();
}

Result<std::optional<WorkerFailure>> DeviceSide::Await() {
  Ready first = std::optional<WorkerFailure>();
  for (std::future<Ready>& loading : state_->loading) {
    Ready ready = loading.get();
    if (first && !*first) first = std::move(ready);
  }
  state_->loading.clear();
  return first;
}

}  // namespace pragma
