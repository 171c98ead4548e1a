// DeviceSide: the processes of one side of a timing session on a device. They are made ready in the
// background: a context, a module and a first call take a second, and Torch's processes do not
// depend on the candidate.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/device_worker.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "verify/device_stage.h"

namespace pragma {

// One process. Exactly one of `worker` and `timer` is set.
struct DevicePlayer {
  std::optional<DeviceWorker> worker;
  std::optional<TimerProcess> timer;
  std::vector<double> bursts;  // seconds per burst, including the doorbell's cost
  std::vector<double> empty;   // seconds per burst without calls
};

class DeviceSide final {
 public:
  // Starts five Torch processes. When ready, they are loaded, have made a call and are stopped.
  [[nodiscard]] static Result<DeviceSide> OfTorch(DeviceStage& stage, TimerMode mode);
  // Starts five processes of a module. When ready, they are loaded and stopped. The session makes
  // the first call, which compiles the module or finds it compiled. Everything that `program`
  // points to must outlive the side.
  [[nodiscard]] static Result<DeviceSide> OfModule(DeviceStage& stage, const DeviceProgram& program,
                                                   const WorkerOptions& options, DeviceArea area);
  DeviceSide(DeviceSide&&) noexcept;
  DeviceSide& operator=(DeviceSide&&) noexcept;
  ~DeviceSide();

  // Waits until all processes are ready. An Error means that Torch does not support the task in
  // this mode.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Await();
  void Settle() const;  // waits as well; Await reports the result
  [[nodiscard]] DeviceArea area() const;
  [[nodiscard]] std::size_t area_number() const { return AreaNumber(area()); }
  [[nodiscard]] bool is_torch() const;
  [[nodiscard]] std::string name() const;  // "candidate", "eager", "compile", "best"
  [[nodiscard]] std::vector<DevicePlayer>& players();

 private:
  struct State;
  explicit DeviceSide(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pragma
