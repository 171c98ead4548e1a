// The loop over a suite: every task with every strategy, one row each.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/suite.h"
#include "core/evaluation.h"
#include "core/trial.h"

namespace pragma {

// One task with one strategy.
struct BenchCell {
  SuiteTask task;
  std::string strategy;
};

struct BenchRow {
  BenchCell cell;
  std::string run;                 // empty: it never began
  std::optional<Evaluation> best;  // measured again; none: nothing passed
  std::size_t attempts = 0;
  std::string stopped;
  Spent spent;
  bool kept = false;    // taken from the store: the run had ended before
  std::string bundle;   // sha256 of the best's evidence; empty: there is none
  std::string problem;  // why there is no run: the task itself fails
};

using RunCell = std::function<Result<BenchRow>(const BenchCell&)>;

struct BenchResult {
  std::vector<BenchRow> rows;
  bool interrupted = false;  // rows hold what was done
};

// Tasks outside, strategies inside. A task that fails (kTask) is a row; any other Error ends the
// loop.
[[nodiscard]] Result<BenchResult> RunBench(const std::vector<SuiteTask>& tasks,
                                           const std::vector<std::string>& strategies,
                                           const RunCell& run,
                                           const std::function<void(const BenchRow&)>& on_row = {});

}  // namespace pragma
