// VariantBench: builds of one candidate that differ in its tunables, held against one secret input
// set each and timed against the first of them. No verdict: the one that is chosen is judged like
// any candidate (docs/tuning.md).
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
#include "core/evaluation.h"

namespace pragma {

// What the quick check of one build showed.
struct VariantCheck {
  Status status = Status::kPassed;
  std::string reason;
  double call_seconds = 0;  // roughly
  [[nodiscard]] bool passed() const { return status == Status::kPassed; }
};

struct VariantMatch {
  std::vector<const BuiltKernel*> kernels;  // held against the bench's first
  double call_seconds = 0;                  // roughly, of one of them
  int processes = 0;                        // fresh ones of each
  double seconds = 0;                       // a process that would end after this is not begun
};

struct VariantTimes {
  // By kernel, one for each process: log(time of the first / its own).
  std::vector<std::vector<double>> logs;
  std::vector<VariantCheck> failures;  // by kernel; not passed: it failed while it was timed
  VariantCheck first;                  // not passed: the first failed, and the match ended there
  double seconds = 0;                  // without the wait
  double waited_seconds = 0;           // until nobody else used the machine
};

class VariantBench final {
 public:
  struct Impl;
  explicit VariantBench(std::unique_ptr<Impl> impl);
  VariantBench(VariantBench&&) noexcept;
  ~VariantBench();

  // Takes the machine's shared lock; thread-safe. A build that lasts longer than `limit` failed.
  [[nodiscard]] Result<BuildOutcome> Build(const Candidate& candidate, Seconds limit) const;
  // The build that the others are held against, on all input sets of the task's own; it outlives
  // the bench. Before any other check.
  [[nodiscard]] Result<VariantCheck> CheckFirst(const BuiltKernel& first);
  // On the first of those sets. A call that takes longer than `limit` failed.
  [[nodiscard]] Result<VariantCheck> Check(const BuiltKernel& kernel, Seconds limit);
  // Expected of one process of one kernel in a match, its share of the first's and of the inputs
  // included. After CheckFirst.
  [[nodiscard]] double ProcessSeconds(double call_seconds) const;
  // Under the machine's exclusive lock. After the last check: it overwrites what they use.
  [[nodiscard]] Result<VariantTimes> Time(const VariantMatch& match);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
