// Prints the results of a benchmark, as text for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/metrics.h"
#include "bench/plan.h"
#include "bench/suite.h"
#include "report/terminal.h"

namespace pragma {

struct BenchResult;
struct BenchRow;

[[nodiscard]] std::string SuiteText(const Terminal& terminal, const std::vector<SuiteTask>& tasks);
[[nodiscard]] std::string SuiteObject(const std::vector<SuiteTask>& tasks);

// Returns "1_Matmul, pragma", with the model and the repeat where a benchmark has several of them.
[[nodiscard]] std::string CellName(const BenchCell& cell);

// What a benchmark's report contains besides the rows.
struct BenchFrame {
  std::vector<BenchArm> arms;  // in the order in which they were asked for
  std::string budget;          // in words
  int repeats = 1;
  int jobs = 1;
  std::vector<std::string> kernelbench;  // the run folders, where they were written
};
// Returns the scores of each arm, in the order of the frame's arms.
[[nodiscard]] std::vector<std::vector<Score>> ScoresByArm(const BenchFrame& frame,
                                                          const BenchResult& result);

// Formats one row as a line of progress.
[[nodiscard]] std::string BenchLine(const BenchRow& row);
// Formats all rows, then the summary tables: one over all tasks, one over the sound tasks only.
[[nodiscard]] std::string BenchText(const Terminal& terminal, const BenchFrame& frame,
                                    const BenchResult& result);
// Returns the JSON object. docs/benchmarks.md describes its members.
[[nodiscard]] std::string BenchObject(const BenchFrame& frame, const BenchResult& result);
// Returns "passed", "no kernel passed", "interrupted" or "task_error". For a given solution it
// returns the solution's status, or "none given".
[[nodiscard]] std::string StateOf(const BenchRow& row);

}  // namespace pragma
