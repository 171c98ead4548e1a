// VariantBench: compares builds of one candidate that differ in its tunables. Each is checked on
// one secret input set and timed against the first build. The bench gives no verdict: the chosen
// build is judged like any candidate (docs/tuning.md).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/check.h"
#include "core/status.h"
#include "verify/verifier.h"

namespace pragma {

// Result of the quick check of one build.
struct VariantCheck {
  Status status = Status::kPassed;
  std::string reason;
  double call_seconds = 0;  // approximate time of one call
  [[nodiscard]] bool passed() const { return status == Status::kPassed; }
};

struct VariantMatch {
  std::vector<const BuiltKernel*> kernels;  // compared with the bench's first build
  double call_seconds = 0;                  // approximate time of one call of one kernel
  int processes = 0;                        // number of fresh processes of each kernel
  double seconds = 0;  // a process that would end after this time is not started
};

struct VariantTimes {
  // By kernel, one value for each process: log(time of the first / its own time).
  std::vector<std::vector<double>> logs;
  std::vector<VariantCheck> failures;  // by kernel; not passed: it failed while it was timed
  VariantCheck first;                  // not passed: the first build failed, which ended the match
  double seconds = 0;                  // time of the match without the wait
  double waited_seconds = 0;           // time until no other process used the machine
};

class VariantBench final {
 public:
  // `verifier` must outlive the bench and must evaluate nothing while the bench exists.
  [[nodiscard]] static Result<VariantBench> Open(Verifier& verifier);
  VariantBench(VariantBench&&) noexcept;
  ~VariantBench();

  // Builds a candidate under the machine's shared lock. Thread-safe. A build that takes longer than
  // `limit` has failed.
  [[nodiscard]] Result<BuildOutcome> Build(const Candidate& candidate, Seconds limit) const;
  // Checks the build with which the others are compared, on all input sets of the task's own. It
  // must outlive the bench. Call it before any other check.
  [[nodiscard]] Result<VariantCheck> CheckFirst(const BuiltKernel& first);
  // Checks a kernel on the first of those sets. A call that takes longer than `limit` has failed.
  [[nodiscard]] Result<VariantCheck> Check(const BuiltKernel& kernel, Seconds limit);
  // Returns the expected seconds of one process of one kernel in a match, including its share of
  // the first build's time and of the inputs. Call it after CheckFirst.
  [[nodiscard]] double ProcessSeconds(double call_seconds) const;
  // Times the kernels under the machine's exclusive lock. Call it after the last check, because it
  // overwrites what the checks use.
  [[nodiscard]] Result<VariantTimes> Time(const VariantMatch& match);

 private:
  struct Impl;
  explicit VariantBench(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
