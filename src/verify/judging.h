// Judging: one evaluation in progress, and the parts it is judged with. Private to verify/.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/evaluation.h"
#include "harness/worker_process.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "verify/options.h"
#include "verify/stage.h"

namespace pragma {

// Borrowed; all outlive the evaluation.
struct JudgeParts {
  Stage& stage;
  const Jail& jail;
  Machine& machine;                           // its figures get better where it is measured anew
  const std::vector<std::string>& libraries;  // that the worker's jail binds
  const VerifyOptions& options;
  WorkerOptions worker;
};

struct Judging {
  Evaluation evaluation;
  const BuiltKernel* kernel = nullptr;
  bool drop_in = false;  // eager allocates by default, however much that costs it
  Seed seed{};
  Rng rng{Seed{}};
  double run_seconds = 1e9;    // the shortest checked call
  double empty_seconds = 1e9;  // the shortest round without one
  double compare_seconds = 0;  // of one slot
  double upkeep_seconds = 0;   // refill, expected values and comparison of one timed call

  // One call, as far as it is known before it is timed; not less than what the doorbell lets one
  // tell.
  [[nodiscard]] double call_seconds() const { return std::max(run_seconds - empty_seconds, 1e-6); }
  // Only once the binary, or the source that is run, is fixed. `given`: recheck's.
  void DrawSecrets(const std::optional<Seed>& given) {
    seed = given.value_or(SystemSeed());
    evaluation.seed = SeedToHex(seed);
    rng = Rng(seed);
  }
  [[nodiscard]] bool failed() const { return evaluation.status != Status::kPassed; }
  void Reject(Status status, std::string reason) {
    evaluation.status = status;
    evaluation.reason = std::move(reason);
  }
  void Reject(const WorkerFailure& failure) {
    Reject(failure.status, failure.reason);
    evaluation.log = failure.log;
  }
  void Note(std::string name, std::string verdict, std::string detail) {
    evaluation.checks.push_back({std::move(name), std::move(verdict), std::move(detail)});
  }
};

// Adds the time since construction to a phase of an evaluation.
class PhaseTimer final {
 public:
  PhaseTimer(Evaluation& evaluation, std::string phase)
      : evaluation_(evaluation),
        phase_(std::move(phase)),
        start_(std::chrono::steady_clock::now()) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() { evaluation_.phases_ms[phase_] += Since(start_).count() * 1e3; }

 private:
  Evaluation& evaluation_;
  std::string phase_;
  TimePoint start_;
};

// To be alone while timing. How long others were waited for is told apart as "time_lock".
[[nodiscard]] inline Result<MachineLock> TakeMachine(Evaluation& evaluation) {
  const PhaseTimer timer(evaluation, "time_lock");
  return MachineLock::Take(MachineLock::Kind::kExclusive);
}

// The same on the machine's GPU alone.
[[nodiscard]] inline Result<MachineLock> TakeDevice(Evaluation& evaluation,
                                                    const Machine& machine) {
  const PhaseTimer timer(evaluation, "time_lock");
  return MachineLock::Take(MachineLock::Kind::kExclusive, machine.device);
}

}  // namespace pragma
