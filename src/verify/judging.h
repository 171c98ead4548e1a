// Judging: one evaluation in progress. Private to verify/ and to the tuner.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "build/builder.h"
#include "core/evaluation.h"
#include "harness/worker_failure.h"

namespace pragma {

struct Judging {
  Evaluation evaluation;
  const BuiltKernel* kernel = nullptr;
  Seed seed{};
  Rng rng{Seed{}};
  double run_seconds = 1e9;    // seconds of the shortest checked call
  double empty_seconds = 1e9;  // seconds of the shortest round trip without a call
  double compare_seconds = 0;  // seconds to compare one slot
  double upkeep_seconds = 0;   // refill, expected values and comparison of one call; 0: unknown

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
  void Note(std::string name, CheckVerdict verdict, std::string detail) {
    evaluation.checks.push_back({std::move(name), verdict, std::move(detail)});
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

}  // namespace pragma
