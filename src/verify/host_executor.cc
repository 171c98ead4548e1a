#include "verify/host_executor.h"

#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "core/environment.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "verify/candidate_build.h"
#include "verify/executor.h"

namespace pragma {

TimingRules HostExecutor::rules() const {
  return {.on_device = false,
          .allocators = {Allocator::kDefault, Allocator::kKeep},
          .processors = {.allowed = parts_.worker.threads,
                         .available = static_cast<int>(std::thread::hardware_concurrency())},
          .load = [this] { return load_.Read(); }};
}

Environment HostExecutor::Describe(Language /*language*/) const {
  return DescribeEnvironment(build_.jail, build_.server, parts_.machine, parts_.options);
}

Result<const BuiltKernel*> HostExecutor::Build(const Candidate& candidate, Evaluation& evaluation) {
  kernel_ = TRY(BuildCandidate(build_, candidate, evaluation));
  return kernel_ ? &*kernel_ : nullptr;
}

Result<const BuiltKernel*> HostExecutor::BuildBest(const Candidate& best, Evaluation& rejection) {
  best_ = TRY(BuildCandidate(build_, best, rejection));
  return best_ ? &*best_ : nullptr;
}

Result<TimedSides*> HostExecutor::Sides(const std::vector<Side>& sides) {
  return &sides_.emplace(parts_, sides);
}

Result<void> HostExecutor::MeasureAgain() {
  Machine again = parts_.machine;
  TRY(MeasureMachine(again, parts_.jail.program_dir()));
  parts_.machine = BetterFigures(parts_.machine, again);
  return {};
}

}  // namespace pragma
