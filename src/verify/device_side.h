// DeviceSide: the processes of one side of a timing session on a device, made ready in the
// background: a context, a module and a first call take a second, and nothing of Torch's depends on
// the candidate.
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

// One process. Exactly one of the two is there.
struct DevicePlayer {
  std::optional<DeviceWorker> worker;
  std::optional<TimerProcess> timer;
  std::vector<double> bursts;  // seconds with the doorbell's cost
  std::vector<double> empty;   // of bursts without calls
};

class DeviceSide final {
 public:
  // Five of them. Those of Torch are loaded, have made a call and are stopped.
  [[nodiscard]] static Result<DeviceSide> OfTorch(DeviceStage& stage, TimerMode mode);
  // Loaded and stopped; the first call, which compiles or finds what was compiled, is the
  // session's. What the program names outlives the side.
  [[nodiscard]] static Result<DeviceSide> OfModule(DeviceStage& stage, const DeviceProgram& program,
                                                   const WorkerOptions& options, DeviceArea area);
  DeviceSide(DeviceSide&&) noexcept;
  DeviceSide& operator=(DeviceSide&&) noexcept;
  ~DeviceSide();

  // Waits until all are ready. An Error: Torch does not support the task so.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Await();
  void Settle() const;  // the same, and leaves it to Await to say how it went
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
