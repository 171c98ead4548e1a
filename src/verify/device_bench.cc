#include "verify/device_bench.h"

#include <algorithm>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/environment.h"
#include "harness/python_kernel.h"
#include "harness/worker_zygote.h"
#include "machine/device_memory.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/candidate_build.h"
#include "verify/device_executor.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/options.h"

namespace pragma {
namespace {

// With fewer processors, a module's imports would disturb what is being timed at the same time.
constexpr int kProcessorsToSpare = 4;

}  // namespace

DeviceBench::DeviceBench(TorchServer& server, const Builder& builder, const Jail& jail,
                         const Machine& machine, const VerifyOptions& options)
    : server_(server),
      builder_(builder),
      jail_(jail),
      machine_(machine),
      options_(options),
      header_(CudaKernelHeader(server.task())) {}

Result<std::unique_ptr<Executor>> DeviceBench::Open(Language language, Measure measure) {
  if (language == Language::kCuda && !server_.task().dims.empty()) {
    return Fail(ErrorKind::kUsage, "--shapes: CUDA candidates are judged on one shape only");
  }
  if (!machine_.device) measure = Measure::kNothing;
  return std::make_unique<DeviceExecutor>(*this, language, measure);
}

// Contexts and processes take tenths of a second to begin and to end.
void DeviceBench::Close(std::unique_ptr<Executor> executor, Measure measure) {
  if (!machine_.device) return;
  clearing_ = std::async(std::launch::async, [this, used = std::move(executor)]() mutable {
    const auto lock = MachineLock::Take(MachineLock::Kind::kShared, machine_.device);
    used.reset();
  });
  if (!more_to_come_) return;
  ahead_ = std::async(std::launch::async, [this, measure] { return StartTorch(measure); });
}

Result<void> DeviceBench::Settle() { return ahead_.valid() ? ahead_.get() : Result<void>(); }

WorkerOptions DeviceBench::worker_options() const {
  return {.threads = machine_.threads,
          .memory_allowance_bytes = options_.memory_allowance_bytes,
          .run_limit = options_.judging.run_limit};
}

Environment DeviceBench::Describe(Language language) const {
  Environment environment = DescribeEnvironment(jail_, server_, machine_, options_);
  environment.trust = jail_.Trust(language == Language::kCuda ? kCudaTrust : kTritonTrust);
  if (!machine_.device) return environment;
  const CacheState cache = DeviceCache(server_.task(), stage_->size(), machine_);
  environment.cache = CacheStateName(cache);
  environment.device = machine_.device->name + ", driver " + machine_.device->driver;
  environment.precision = "fp32";
  return environment;
}

SharedDevice DeviceBench::Shared() const {
  return SharedDeviceOf(*machine_.device, jail_.program_dir());
}

std::size_t DeviceBench::Need() const {
  const StageSize size = DeviceStageSize(server_.task(), options_, machine_);
  return std::min(DeviceMemoryNeed(server_.task(), size), machine_.device->memory_bytes);
}

// Where the device's memory is the host's, there is no card to share.
Result<void> DeviceBench::Admit() {
  if (share_ || !machine_.device || machine_.device->host_memory) return {};
  crowded_ = pragma::HasNeighbour(TRY(DeviceMemoryShare::Look(Shared())));
  share_ = TRY(DeviceMemoryShare::Take(Shared(), Need()));
  return {};
}

bool DeviceBench::HasNeighbour() const {
  if (!share_) return false;
  Result<DeviceMemory> now = DeviceMemoryShare::Look(Shared());
  if (!now) return crowded_;
  now->used -= std::min(now->used, Need());  // our own part
  return crowded_ || pragma::HasNeighbour(*now);
}

// The driver counts what our own server still holds, so only the shares of other commands count
// here.
Result<void> DeviceBench::StartAnew() {
  AwaitCleared();
  if (ahead_.valid()) (void)ahead_.get();
  eager_.reset();
  compile_.reset();
  stage_.reset();
  share_.reset();
  SharedDevice device = Shared();
  device.used = nullptr;
  const std::size_t twice = std::min(2 * Need(), machine_.device->memory_bytes);
  share_ = TRY(DeviceMemoryShare::Take(device, twice));
  crowded_ = pragma::HasNeighbour(TRY(DeviceMemoryShare::Look(device)));
  return {};
}

Result<void> DeviceBench::MakeStage() {
  if (stage_) return {};
  stage_.emplace(
      TRY(DeviceStage::Create(server_, DeviceStageSize(server_.task(), options_, machine_))));
  return {};
}

void DeviceBench::StartZygote() {
  if (spare_.valid()) return;
  spare_ = std::async(std::launch::async, [this]() -> Result<WorkerZygote> {
    JailSpec spec = TRY(server_.TritonJail());
    return WorkerZygote::Start(jail_, std::move(spec), worker_options());
  });
}

Result<WorkerZygote> DeviceBench::TakeZygote() {
  StartZygote();
  WorkerZygote taken = TRY(spare_.get());
  if (more_to_come_ && machine_.threads >= kProcessorsToSpare) StartZygote();
  return taken;
}

Result<void> DeviceBench::StartTorch(Measure measure) {
  if (!machine_.device || measure == Measure::kNothing) return {};
  if (!eager_) eager_ = TRY(DeviceSide::OfTorch(*stage_, TimerMode::kEager));
  if (compile_ || !MeasuresCompile(measure)) return {};
  compile_ = TRY(DeviceSide::OfTorch(*stage_, TimerMode::kCompile));
  return {};
}

DeviceSide DeviceBench::TakeTorch(SideRole role) {
  std::optional<DeviceSide>& side = role == SideRole::kCompile ? compile_ : eager_;
  return std::move(*std::exchange(side, std::nullopt));
}

void DeviceBench::SettleTorch() const {
  if (eager_) eager_->Settle();
  if (compile_) compile_->Settle();
}

void DeviceBench::AwaitCleared() const {
  if (clearing_.valid()) clearing_.wait();
}

}  // namespace pragma
