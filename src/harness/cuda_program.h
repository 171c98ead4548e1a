// CudaProgram: what the processes of one CUDA candidate are started from, each in a jail of its
// own: pragma-cuda-worker (worker/cuda/worker.c) and the GPU's devices. A process can be started
// before the candidate is built, which is handed to it when it is loaded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "task/doorbell.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "core/device.h"
#include "harness/worker_process.h"
#include "sandbox/jail.h"
#include "task/referee.h"
#include "task/torch_channel.h"

namespace pragma {

// A process in its jail, blocked on its doorbell; nothing is loaded.
struct CudaProcess {
  JailedProcess jailed;
  Doorbell control;
  TorchChannel object;  // where its candidate goes
  UniqueFd log;         // what it prints
  SharedMemory kept;    // struct pragma_kept and what follows it
};

// The jail of a process that uses the device, with no program yet: a private /tmp, no network, no
// task.
[[nodiscard]] JailSpec CudaJail(const Device& device);

class CudaProgram final {
 public:
  // `jail` outlives it.
  CudaProgram(const Jail& jail, const Device& device, const WorkerOptions& options);
  // Before any process is loaded.
  void SetKernel(const BuiltKernel& kernel);
  [[nodiscard]] Result<CudaProcess> Start(const Referee::SharedArea& shared) const;
  // The candidate, ready to be loaded by the process.
  [[nodiscard]] Result<void> HandOver(pragma_control& page, TorchChannel& object) const;

 private:
  const Jail* jail_;
  JailSpec spec_;
  std::string shared_object_;
  std::size_t scratch_bytes_ = 0;
  std::string device_variables_;  // with spaces between them
};

}  // namespace pragma
