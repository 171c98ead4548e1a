// HostExecutor: builds and runs one candidate on the processors.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "machine/load_reader.h"
#include "verify/candidate_build.h"
#include "verify/executor.h"
#include "verify/host_calls.h"
#include "verify/host_sides.h"
#include "verify/turn.h"

namespace pragma {

class HostExecutor final : public Executor {
 public:
  // Everything that the parts refer to, and `baseline`, must outlive the executor.
  HostExecutor(const HostParts& parts, const BuildParts& build,
               std::optional<TaskBaseline>& baseline)
      : parts_(parts), build_(build), baseline_(baseline), turn_(std::nullopt) {}

  [[nodiscard]] InputSets& sets() override { return parts_.stage; }
  [[nodiscard]] const VerifyOptions& options() const override { return parts_.options; }
  [[nodiscard]] const Machine& machine() const override { return parts_.machine; }
  [[nodiscard]] TimingRules rules() const override;
  [[nodiscard]] Clock& clock() override { return clock_; }
  [[nodiscard]] Environment Describe(Language language) const override;
  [[nodiscard]] Result<const BuiltKernel*> Build(const Candidate& candidate,
                                                 Evaluation& evaluation) override;
  [[nodiscard]] Result<const BuiltKernel*> BuildBest(const Candidate& best,
                                                     Evaluation& rejection) override;
  [[nodiscard]] std::unique_ptr<CheckedCalls> Calls(Judging& judging) override {
    return std::make_unique<HostCalls>(parts_, judging);
  }
  [[nodiscard]] Result<TimedSides*> Sides(const std::vector<Side>& sides) override;
  void EndSession() override { sides_.reset(); }
  [[nodiscard]] Result<void> Share() override { return turn_.Share(); }
  [[nodiscard]] Result<void> BeAlone(Evaluation& evaluation) override {
    return turn_.BeAlone(evaluation);
  }
  void Leave() override { turn_.Leave(); }
  [[nodiscard]] Result<void> MeasureAgain() override;
  [[nodiscard]] std::optional<TaskBaseline>& baseline() override { return baseline_; }

 private:
  HostParts parts_;
  BuildParts build_;
  std::optional<TaskBaseline>& baseline_;
  Turn turn_;
  SystemClock clock_;
  LoadReader load_;
  std::optional<BuiltKernel> kernel_;
  std::optional<BuiltKernel> best_;
  std::optional<HostSides> sides_;
};

}  // namespace pragma
