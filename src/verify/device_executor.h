// DeviceExecutor: builds and runs one candidate on a GPU, or in Triton's interpreter where there is
// none.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/candidate.h"
#include "harness/cuda_program.h"
#include "harness/device_worker.h"
#include "harness/worker_zygote.h"
#include "verify/device_bench.h"
#include "verify/device_calls.h"
#include "verify/device_sides.h"
#include "verify/executor.h"
#include "verify/turn.h"

namespace pragma {

class DeviceExecutor final : public Executor {
 public:
  // `bench` must outlive the executor. `measure`: the most that is measured.
  DeviceExecutor(DeviceBench& bench, Language language, Measure measure)
      : bench_(bench), language_(language), measure_(measure), turn_(bench.machine().device) {}

  [[nodiscard]] Result<void> Prepare(Evaluation& evaluation) override;
  [[nodiscard]] InputSets& sets() override { return bench_.stage(); }
  [[nodiscard]] const VerifyOptions& options() const override { return bench_.options(); }
  [[nodiscard]] const Machine& machine() const override { return bench_.machine(); }
  [[nodiscard]] TimingRules rules() const override { return {.on_device = true}; }
  [[nodiscard]] Clock& clock() override { return clock_; }
  [[nodiscard]] Environment Describe(Language language) const override {
    return bench_.Describe(language);
  }
  [[nodiscard]] std::string CannotTime() const override;
  [[nodiscard]] Result<const BuiltKernel*> Build(const Candidate& candidate,
                                                 Evaluation& evaluation) override;
  [[nodiscard]] Result<const BuiltKernel*> BuildBest(const Candidate& best,
                                                     Evaluation& rejection) override;
  [[nodiscard]] std::unique_ptr<CheckedCalls> Calls(Judging& judging) override;
  [[nodiscard]] Result<TimedSides*> Sides(const std::vector<Side>& sides) override;
  void EndSession() override { turn_.Leave(); }
  [[nodiscard]] Result<void> Share() override { return turn_.Share(); }
  [[nodiscard]] Result<void> BeAlone(Evaluation& evaluation) override {
    return turn_.BeAlone(evaluation);
  }
  void Leave() override { turn_.Leave(); }
  [[nodiscard]] Result<void> MeasureAgain() override { return {}; }
  [[nodiscard]] std::optional<TaskBaseline>& baseline() override { return baseline_; }

 private:
  // A candidate and the programs from which its processes are started.
  struct Subject {
    std::optional<WorkerZygote> zygote;
    std::optional<CudaProgram> cuda;
    ReadyWorkers ready;
    std::optional<BuiltKernel> built;
    [[nodiscard]] DeviceProgram program() {
      return {
          .zygote = zygote ? &*zygote : nullptr, .cuda = cuda ? &*cuda : nullptr, .ready = &ready};
    }
  };

  [[nodiscard]] Result<void> StartProgram();
  [[nodiscard]] Result<const BuiltKernel*> BuildInto(Subject& subject, const Candidate& candidate,
                                                     Evaluation& evaluation);
  [[nodiscard]] Result<void> StartTimed();
  [[nodiscard]] Result<void> BeAloneForState(Judging& judging);
  [[nodiscard]] Result<DeviceSide> TakeSide(SideRole role);
  [[nodiscard]] Result<DeviceSide> StartSide(Subject& subject, SideRole role);

  // Processes are destroyed before what they were started from.
  DeviceBench& bench_;
  Language language_;
  Measure measure_;
  SystemClock clock_;
  std::optional<TaskBaseline> baseline_;  // never set: Torch has one allocator on a device
  Subject subject_;
  std::optional<Subject> champion_;    // the present best, if it is to be timed against
  bool timed_started_ = false;         // what is timed later was started once
  std::optional<DeviceSide> waiting_;  // the candidate's side loads while the checks run
  std::list<DeviceWorker> checked_;
  // Sessions end, but their processes are waited for only once the evaluation is over, because a
  // context takes tenths of a second to end.
  std::list<DeviceSides> timed_;
  Turn turn_;
};

}  // namespace pragma
