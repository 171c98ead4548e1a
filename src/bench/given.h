// Implements `pragma bench --evaluate-only`: judges existing solutions as it judges any candidate.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "app/context.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "bench/loop.h"
#include "bench/options.h"
#include "bench/progress.h"
#include "bench/row.h"
#include "bench/solutions.h"
#include "bench/suite.h"
#include "bench/task_opener.h"

namespace pragma {

// Returns one cell for each set of solutions, task and sample. A task for which a set has no
// solution also gets a cell. It counts as a failure, as KernelBench counts it.
[[nodiscard]] std::vector<BenchCell> CellsOfGiven(const GivenSolutions& given,
                                                  const std::vector<SuiteTask>& tasks);
[[nodiscard]] std::vector<BenchArm> ArmsOfGiven(const GivenSolutions& given);

// GivenRunner judges the cells on a workbench. Verdicts of earlier calls are kept in the store.
// Thread-safe: several threads may share one GivenRunner.
class GivenRunner final {
 public:
  GivenRunner(const AppContext& context, const BenchOptions& options, const JudgingOptions& judging,
              Workbench& bench, const GivenSolutions& given, BenchProgress progress);
  [[nodiscard]] Result<std::optional<BenchRow>> Run(const BenchCell& cell, Spending spending);

 private:
  [[nodiscard]] Result<Evaluation> Judge(TaskBench& task, const Candidate& candidate) const;
  [[nodiscard]] Result<void> JudgeOrKeep(TaskBench& task, const Candidate& candidate,
                                         BenchRow& row) const;
  [[nodiscard]] Result<void> Fill(const std::optional<Candidate>& candidate, BenchRow& row);
  [[nodiscard]] Result<void> AddExtrasOf(BenchRow& row, const std::optional<Candidate>& candidate,
                                         TaskBench& task);
  [[nodiscard]] std::string KeyOf(const Task& task, const Candidate& candidate) const;

  const AppContext& context_;
  const BenchOptions& options_;
  const JudgingOptions& judging_;
  Workbench& bench_;
  BenchProgress progress_;
  TaskOpener opener_;
  std::map<std::tuple<std::string, std::string, int>, GivenSolution> given_;  // set, path, sample
};

}  // namespace pragma
