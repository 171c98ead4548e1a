// DeviceVerifier: turns a candidate for a GPU (a Triton module or a CUDA source) into an
// Evaluation. The candidate is inspected or built, then checked and timed on the device's memory
// (device_stage.h). The verifier keeps ready what the next evaluation needs. Private to verify/.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "harness/cuda_program.h"
#include "harness/device_worker.h"
#include "harness/worker_zygote.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/device_check.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

class DeviceVerifier final {
 public:
  // All parts except machine and options, which are copied, must outlive it. The constructor starts
  // nothing.
  DeviceVerifier(TorchServer& server, const Builder& builder, const Jail& jail,
                 const Machine& machine, const VerifyOptions& options);
  [[nodiscard]] Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best,
                                            Measure measure, const VerifyProgress& progress);
  // Waits until nothing that this verifier started uses the server any more.
  [[nodiscard]] Result<void> Settle();
  void set_seed(const std::optional<Seed>& seed) { options_.seed = seed; }
  void set_battery_budget(Seconds budget) { options_.battery_budget = budget; }
  void set_more_to_come(bool more) { more_to_come_ = more; }

 private:
  // A candidate and the programs from which its processes are started.
  struct Subject {
    std::optional<WorkerZygote> zygote;
    std::optional<CudaProgram> cuda;
    ReadyWorkers ready;
    std::optional<BuiltKernel> built;  // set once it is built, with the build's checks
    [[nodiscard]] DeviceProgram program() {
      return {
          .zygote = zygote ? &*zygote : nullptr, .cuda = cuda ? &*cuda : nullptr, .ready = &ready};
    }
  };
  struct Session;

  [[nodiscard]] Result<void> Judge(const Candidate& candidate, const Candidate* best,
                                   Session& session);
  void Clear(std::unique_ptr<Session> session);
  void LookAhead(Measure measure);
  [[nodiscard]] Result<void> Prepare();
  // Returns false when the candidate was rejected (the evaluation says why).
  [[nodiscard]] Result<bool> Build(const Candidate& candidate, Subject& subject,
                                   Evaluation& evaluation);
  [[nodiscard]] Result<void> StartProgram(Subject& subject, Measure measure);
  [[nodiscard]] Result<void> BuildChampion(const Candidate& best, Session& session);
  [[nodiscard]] DeviceParts Parts(Session& session);
  [[nodiscard]] Result<void> Check(const Candidate& candidate, Session& session);
  [[nodiscard]] Result<void> Time(Session& session);
  void StartZygote();
  [[nodiscard]] Result<WorkerZygote> TakeZygote();
  [[nodiscard]] Result<void> StartTorch(Measure measure);
  void SettleProcesses(const Session& session);
  [[nodiscard]] Environment Describe(Language language) const;
  [[nodiscard]] WorkerOptions worker_options() const;

  TorchServer& server_;
  const Builder& builder_;
  const Jail& jail_;
  Machine machine_;
  VerifyOptions options_;
  std::string header_;
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
