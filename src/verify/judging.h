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

// All references are borrowed and must outlive the evaluation.
struct JudgeParts {
  Stage& stage;
  const Jail& jail;
  Machine& machine;                           // its figures improve when it is measured again
  const std::vector<std::string>& libraries;  // libraries that the worker's jail binds
  const VerifyOptions& options;
  WorkerOptions worker;
};

struct Judging {
  Evaluation evaluation;
  const BuiltKernel* kernel = nullptr;
  bool drop_in = false;  // eager uses the default allocator, however much that costs it
  Seed seed{};
  Rng rng{Seed{}};
  double run_seconds = 1e9;    // seconds of the shortest checked call
  double empty_seconds = 1e9;  // seconds of the shortest round trip without a call
  double compare_seconds = 0;  // seconds to compare one slot
  double upkeep_seconds = 0;   // refill, expected values and comparison of one call

  // Seconds of one call, as far as known before it is timed. Never less than what the doorbell's
  // noise allows one to measure.
  [[nodiscard]] double call_seconds() const { return std::max(run_seconds - empty_seconds, 1e-6); }
  // Draws the seed. Must be called only once the binary, or the source that is run, is fixed.
  // `given`: the seed of a recheck.
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

// Takes the machine's exclusive lock for timing. The time spent waiting for other processes is
// reported separately as "time_lock".
[[nodiscard]] inline Result<MachineLock> TakeMachine(Evaluation& evaluation) {
  const PhaseTimer timer(evaluation, "time_lock");
  return MachineLock::Take(MachineLock::Kind::kExclusive);
}

// Takes the exclusive lock for the machine's GPU only.
[[nodiscard]] inline Result<MachineLock> TakeDevice(Evaluation& evaluation,
                                                    const Machine& machine) {
  const PhaseTimer timer(evaluation, "time_lock");
  return MachineLock::Take(MachineLock::Kind::kExclusive, machine.device);
}

}  // namespace pragma
