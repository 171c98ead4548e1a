// TimedProcess: one process whose calls are timed or checked. Candidates on processors
// (WorkerProcess), candidates on a GPU (DeviceWorker) and Torch (TimerProcess) implement it, so
// that what is measured, and in which order, is written once (verify/timing_run.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "harness/worker_failure.h"

namespace pragma {

// The failure of a candidate; nullopt: it did not fail. Torch's processes never fail in this way:
// the reference is trusted, so their failures are Errors.
using ProcessFailure = std::optional<WorkerFailure>;

class TimedProcess {
 public:
  virtual ~TimedProcess() = default;

  // Loads what is to be called. After a failure the process is dead.
  [[nodiscard]] virtual Result<ProcessFailure> Load() = 0;
  // Makes one call for each listed set, and on a device waits for it. `elapsed` is the time that
  // this took by pragma's own clock.
  [[nodiscard]] virtual Result<ProcessFailure> Run(std::span<const std::uint32_t> sets,
                                                   Nanoseconds* elapsed) = 0;
  // Like Run, but without calls: measures the doorbell's own cost.
  [[nodiscard]] virtual Result<ProcessFailure> RunEmpty(std::span<const std::uint32_t> sets,
                                                        Nanoseconds* elapsed) = 0;
  // Calls pragma_prepare for each listed set. Only for a kernel that has it.
  [[nodiscard]] virtual Result<ProcessFailure> Prepare(std::span<const std::uint32_t> /*sets*/,
                                                       Nanoseconds* /*elapsed*/) {
    return ProcessFailure();
  }
  // Makes calls as a user makes them, in Python: `times` calls for one set. Drops each result at
  // once, and keeps only what the last call returned. Deliver, which is not timed, copies that to
  // where output() finds it. Processes without Python do not loop.
  [[nodiscard]] virtual Result<ProcessFailure> Repeat(std::uint32_t set, std::uint32_t /*times*/,
                                                      Nanoseconds* elapsed) {
    return Run({&set, 1}, elapsed);
  }
  [[nodiscard]] virtual Result<ProcessFailure> Deliver(std::uint32_t /*set*/) {
    return ProcessFailure();
  }
  // Makes the device switch to this process. Not timed. Does nothing on processors.
  [[nodiscard]] virtual Result<ProcessFailure> Wake() { return ProcessFailure(); }

  // Freeze stops the process, and Thaw lets it continue. A candidate that died in the meantime, or
  // that cannot be stopped, has failed.
  [[nodiscard]] virtual Result<ProcessFailure> Freeze() = 0;
  [[nodiscard]] virtual Result<void> Thaw() = 0;
  // CPU time that all its threads have used so far, as the operating system accounts it. Always 0
  // for a candidate on a GPU, which is not judged by it.
  [[nodiscard]] virtual Seconds CpuTime() const { return Seconds{0}; }
  // Page faults so far that needed no disk. 0 for a candidate on a GPU.
  [[nodiscard]] virtual std::uint64_t PageFaults() const { return 0; }
  // Gives back the device memory that it keeps from freed blocks.
  [[nodiscard]] virtual Result<void> Release() { return {}; }
  virtual void Kill() = 0;

  // Writes fresh random bytes into the outputs of the listed sets and into the scratch memory. Does
  // nothing where outputs are not memory that pragma shares: Torch allocates its own, and on a
  // device the referee fills them.
  virtual void Poison(Rng& /*rng*/, std::span<const std::uint32_t> /*sets*/) {}
  // Returns the bytes of an output in memory that pragma shares. Empty where Poison does nothing.
  [[nodiscard]] virtual std::span<const std::byte> output(std::uint32_t /*set*/,
                                                          std::size_t /*index*/) const {
    return {};
  }
  // Writes such an output. `bytes` has its size.
  virtual void WriteOutput(std::uint32_t /*set*/, std::size_t /*index*/,
                           std::span<const std::byte> /*bytes*/) {}
  // Returns the name of an output whose surroundings in such memory were written, or nullopt.
  [[nodiscard]] virtual std::optional<std::string> BrokenGuard(std::uint32_t /*set*/) const {
    return std::nullopt;
  }
  // Returns the number of the area in which it computes on a device (task/referee.h).
  [[nodiscard]] virtual std::size_t area() const { return 0; }

 protected:
  TimedProcess() = default;
  TimedProcess(TimedProcess&&) = default;
  TimedProcess& operator=(TimedProcess&&) = default;
};

}  // namespace pragma
