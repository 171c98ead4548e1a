// DeviceSide: the processes of one side of a timing session on a device. They are made ready in the
// background: a context, a module and a first call take a second, and Torch's processes do not
// depend on the candidate.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "harness/device_worker.h"
#include "harness/timed_process.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "verify/device_stage.h"
#include "verify/timed_sides.h"

namespace pragma {

// Processes per side, fresh for each session, because the unit of noise is the process.
inline constexpr std::size_t kDeviceProcesses = 5;

class DeviceSide final {
 public:
  // Starts five Torch processes. When ready, they are loaded, have made a call and are stopped.
  [[nodiscard]] static Result<DeviceSide> OfTorch(DeviceStage& stage, TimerMode mode);
  // Starts five processes of a module. When ready, they are loaded and stopped. The session makes
  // the first call, which compiles the module or finds it compiled. Everything that `program`
  // points to must outlive the side.
  [[nodiscard]] static Result<DeviceSide> OfModule(DeviceStage& stage, const DeviceProgram& program,
                                                   const WorkerOptions& options, SideRole role);
  DeviceSide(DeviceSide&&) noexcept;
  DeviceSide& operator=(DeviceSide&&) noexcept;
  ~DeviceSide();

  // Waits until all processes are ready. An Error means that Torch does not support the task in
  // this mode.
  [[nodiscard]] Result<ProcessFailure> Await();
  void Settle() const;  // waits as well; Await reports the result
  [[nodiscard]] SideRole role() const;
  [[nodiscard]] std::vector<std::unique_ptr<TimedProcess>>& processes();

 private:
  struct State;
  explicit DeviceSide(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pragma
