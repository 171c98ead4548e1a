#include "harness/cuda_program.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "core/device.h"
#include "harness/worker_failure.h"
#include "harness/worker_process.h"
#include "sandbox/jail.h"
#include "task/doorbell.h"
#include "task/referee.h"
#include "task/system_jail.h"
#include "task/torch_channel.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

// Memory limit of a process. For one context, the driver maps a few hundred MiB of host memory.
constexpr std::size_t kMemory = std::size_t{4} << 30U;
constexpr int kProcesses = 64;  // includes threads, of which the driver starts several
constexpr int kOpenFiles = 256;
constexpr int kControlFd = 3;
constexpr int kAreasFd = 4;
constexpr int kObjectFd = 5;
constexpr int kKeptFd = 6;
// Maximum length of the line of names that is sent with a candidate. A worker does not accept a
// longer one.
constexpr std::size_t kMostNames = std::size_t{60} << 10U;
constexpr Seconds kSendLimit{10};
constexpr std::size_t kMostObjectBytes = std::size_t{256} << 20U;

JailSpec MakeSpec(const Jail& jail, const Device& device, const WorkerOptions& options) {
  JailSpec spec = CudaJail(device);
  spec.binds.push_back({jail.program_dir() + "/pragma-confine", "/pragma-confine"});
  spec.binds.push_back({jail.program_dir() + "/pragma-cuda-worker", "/pragma-cuda-worker"});
  spec.argv = {"/pragma-confine", "0", "/pragma-cuda-worker"};
  spec.limits.memory_bytes = kMemory + options.memory_allowance_bytes;
  return spec;
}

// Makes the control page of a process that computes in an area with this layout.
Result<Doorbell> MakeControl(const AreaLayout& layout) {
  const std::size_t sets = layout.arguments.size();
  if (sets == 0 || sets > PRAGMA_MAX_SETS || layout.outputs.size() != sets) {
    return Fail("the PyTorch server made an area that no kernel can be called on");
  }
  const std::size_t pointers = layout.arguments.front().size() + layout.outputs.front().size();
  if (pointers + 2 > PRAGMA_MAX_POINTERS) return Fail("the task has too many tensors for a kernel");
  Doorbell control = TRY(Doorbell::Create(sets * pointers));
  pragma_control& page = control.page();
  page.set_count = static_cast<std::uint32_t>(sets);
  page.argument_count = static_cast<std::uint32_t>(layout.arguments.front().size());
  page.output_count = static_cast<std::uint32_t>(layout.outputs.front().size());
  page.input_bytes = layout.input_bytes;
  page.output_bytes = layout.output_bytes;
  std::uint64_t* word = pragma_offsets(&page);
  for (std::size_t set = 0; set < sets; ++set) {
    word = std::ranges::copy(layout.arguments[set], word).out;
    word = std::ranges::copy(layout.outputs[set], word).out;
  }
  return control;
}

}  // namespace

JailSpec CudaJail(const Device& device) {
  JailSpec spec;
  BindSystem(spec);
  BindDevice(spec, device);
  spec.env["HOME"] = "/tmp";
  spec.env["CUDA_MODULE_LOADING"] = "EAGER";  // load modules at start-up, not during the first call
  spec.tmpfs = {"/tmp"};
  spec.proc = true;
  // CUDA reserves far more address space than there is memory.
  spec.limits.address_space_bytes = 0;
  spec.limits.memory_bytes = kMemory;
  spec.limits.processes = kProcesses;
  spec.limits.open_files = kOpenFiles;
  return spec;
}

CudaProgram::CudaProgram(const Jail& jail, const Device& device, const WorkerOptions& options)
    : jail_(&jail), spec_(MakeSpec(jail, device, options)) {}

void CudaProgram::SetKernel(const BuiltKernel& kernel) {
  shared_object_ = kernel.shared_object.string();
  scratch_bytes_ = kernel.scratch_bytes;
  device_variables_.clear();
  for (const std::string& name : kernel.device_variables) {
    if (device_variables_.size() + name.size() < kMostNames) device_variables_ += name + " ";
  }
}

Result<CudaProcess> CudaProgram::Start(const Referee::SharedArea& shared) const {
  Doorbell control = TRY(MakeControl(shared.layout));
  LogPipe log = TRY(MakeLogPipe());
  UniqueFd theirs;
  TorchChannel object = TRY(TorchChannel::Create(theirs));
  SharedMemory kept =
      TRY(SharedMemory::Create("pragma-kept", sizeof(pragma_kept) + PRAGMA_KEPT_BYTES));
  TRY(kept.Seal(SealKind::kSizeOnly));
  JailSpec spec = spec_;
  spec.fds = {{log.end.get(), 1},           {log.end.get(), 2},        {control.fd(), kControlFd},
              {shared.end.get(), kAreasFd}, {theirs.get(), kObjectFd}, {kept.fd(), kKeptFd}};
  return CudaProcess{.jailed = TRY(jail_->Start(spec)),
                     .control = std::move(control),
                     .object = std::move(object),
                     .log = std::move(log.ours),
                     .kept = std::move(kept)};
}

Result<void> CudaProgram::HandOver(pragma_control& page, TorchChannel& object) const {
  page.scratch_bytes = scratch_bytes_;
  // A copy in memory, because the process loads it by the name of its descriptor, and the reduced
  // jail lets it open no file that was not bound when it started.
  const std::string bytes = TRY(ReadFile(shared_object_, kMostObjectBytes));
  SharedMemory copy = TRY(SharedMemory::Create("pragma-object", bytes.size()));
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  TRY(copy.Seal(SealKind::kFutureWrites));
  const std::array<int, 1> fds{copy.fd()};
  // The result is ignored: a dead process receives nothing, and this is detected when it is asked
  // to load.
  static_cast<void>(object.Send(device_variables_, fds, After(kSendLimit)));
  return {};
}

}  // namespace pragma
