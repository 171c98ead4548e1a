// DeviceBench: what evaluations of candidates for a GPU (Triton modules, CUDA sources) share: the
// stage in the device's memory, and processes that are started ahead for the next evaluation.
// Private to verify/.
#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "harness/worker_process.h"
#include "harness/worker_zygote.h"
#include "machine/device_memory.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/candidate_build.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/executor.h"
#include "verify/options.h"

namespace pragma {

class DeviceBench final {
 public:
  // All parts except machine and options, which are copied, must outlive it. The constructor starts
  // nothing.
  DeviceBench(TorchServer& server, const Builder& builder, const Jail& jail, const Machine& machine,
              const VerifyOptions& options);
  // Opens an evaluation. The bench must outlive the executor.
  [[nodiscard]] Result<std::unique_ptr<Executor>> Open(Language language, Measure measure);
  // Ends it in the background, and starts what the next evaluation needs.
  void Close(std::unique_ptr<Executor> executor, Measure measure);
  // Waits until nothing that was started ahead uses the server any more.
  [[nodiscard]] Result<void> Settle();
  void set_seed(const std::optional<Seed>& seed) { options_.seed = seed; }
  void set_battery_budget(Seconds budget) { options_.battery_budget = budget; }
  void set_more_to_come(bool more) { more_to_come_ = more; }

  // True if another program uses the GPU's memory, or did when this bench began to use it.
  [[nodiscard]] bool HasNeighbour() const;
  // Gives up all memory of the GPU, and waits until other commands leave twice the estimate.
  [[nodiscard]] Result<void> StartAnew();

  // The rest is for the executor.
  // Waits for the memory that evaluations need (machine/device_memory.h). No lock may be held,
  // because others must be able to finish meanwhile.
  [[nodiscard]] Result<void> Admit();
  [[nodiscard]] DeviceStage& stage() { return *stage_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const VerifyOptions& options() const { return options_; }
  [[nodiscard]] const Jail& jail() const { return jail_; }
  [[nodiscard]] WorkerOptions worker_options() const;
  [[nodiscard]] BuildParts build_parts() const { return {server_, builder_, jail_, header_}; }
  [[nodiscard]] Environment Describe(Language language) const;
  [[nodiscard]] Result<void> MakeStage();
  // Starts the zygote for the next module, unless there is one. It begins to import at once; the
  // caller does not wait for the start of its jail.
  void StartZygote();
  [[nodiscard]] Result<WorkerZygote> TakeZygote();
  // Starts Torch's processes for a session, unless they are there. Processes that were loaded but
  // never used are as fresh as new ones.
  [[nodiscard]] Result<void> StartTorch(Measure measure);
  // Hands over the processes of eager or torch.compile.
  [[nodiscard]] DeviceSide TakeTorch(SideRole role);
  // Waits for Torch's processes to be ready. AwaitCleared waits for those of the last evaluation to
  // end, which must not disturb a session.
  void SettleTorch() const;
  void AwaitCleared() const;

 private:
  [[nodiscard]] SharedDevice Shared() const;
  [[nodiscard]] std::size_t Need() const;
  TorchServer& server_;
  const Builder& builder_;
  const Jail& jail_;
  Machine machine_;
  VerifyOptions options_;
  std::string header_;
  std::optional<DeviceMemoryShare> share_;
  bool crowded_ = false;  // there was a neighbour when the share was taken
  std::optional<DeviceStage> stage_;
  bool more_to_come_ = true;
  // Processes for the next evaluation, started ahead of time.
  std::future<Result<WorkerZygote>> spare_;
  std::optional<DeviceSide> eager_;
  std::optional<DeviceSide> compile_;
  // `ahead_` makes those processes ready. `clearing_` cleans up the last evaluation's processes.
  // Both run while an author thinks.
  std::future<void> clearing_;
  std::future<Result<void>> ahead_;
};

}  // namespace pragma
