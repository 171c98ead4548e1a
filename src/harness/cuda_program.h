// CudaProgram: starts the processes of one CUDA candidate. Each process runs pragma-cuda-worker
// (worker/cuda/worker.c) in its own jail with access to the GPU's devices. A process can be started
// before the candidate is built; the candidate is handed to it when it is loaded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "core/device.h"
#include "harness/worker_process.h"
#include "sandbox/jail.h"
#include "task/doorbell.h"
#include "task/referee.h"
#include "task/torch_channel.h"

namespace pragma {

// A jailed process that waits on its doorbell. No candidate is loaded yet.
struct CudaProcess {
  JailedProcess jailed;
  Doorbell control;
  TorchChannel object;  // channel through which it receives its candidate
  UniqueFd log;         // its standard output and standard error
  SharedMemory kept;    // struct pragma_kept and the bytes that follow it
};

// Returns the jail of a process that uses the device: a private /tmp, no network, no task. The
// program to run is not set yet.
[[nodiscard]] JailSpec CudaJail(const Device& device);

class CudaProgram final {
 public:
  // `jail` must outlive the CudaProgram.
  CudaProgram(const Jail& jail, const Device& device, const WorkerOptions& options);
  // Sets the built candidate. Must be called before any process is loaded.
  void SetKernel(const BuiltKernel& kernel);
  [[nodiscard]] Result<CudaProcess> Start(const Referee::SharedArea& shared) const;
  // Sends the candidate to a started process, which can then be told to load it.
  [[nodiscard]] Result<void> HandOver(pragma_control& page, TorchChannel& object) const;

 private:
  const Jail* jail_;
  JailSpec spec_;
  std::string shared_object_;
  std::size_t scratch_bytes_ = 0;
  std::string device_variables_;  // names of the candidate's device variables, separated by spaces
};

}  // namespace pragma
