// What a benchmark came to, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "bench/loop.h"
#include "bench/metrics.h"
#include "bench/row.h"
#include "bench/suite.h"
#include "report/terminal.h"

namespace pragma {

[[nodiscard]] std::string SuiteText(const Terminal& terminal, const std::vector<SuiteTask>& tasks);
[[nodiscard]] std::string SuiteObject(const std::vector<SuiteTask>& tasks);

// "1_Matmul, pragma", with the model and the repeat where a benchmark has several.
[[nodiscard]] std::string CellName(const BenchCell& cell);

// What a benchmark is reported with, besides its rows.
struct BenchFrame {
  std::vector<BenchArm> arms;  // in the order they were asked for
  std::string budget;          // in words
  int repeats = 1;
  int jobs = 1;
  std::vector<std::string> kernelbench;  // its run folders, where they were written
};
// The scores of each arm, in the frame's order.
[[nodiscard]] std::vector<std::vector<Score>> ScoresByArm(const BenchFrame& frame,
                                                          const BenchResult& result);

// One row as a line of progress.
[[nodiscard]] std::string BenchLine(const BenchRow& row);
// All rows, then the tables that sum them up: of all tasks, and of the sound ones alone.
[[nodiscard]] std::string BenchText(const Terminal& terminal, const BenchFrame& frame,
                                    const BenchResult& result);
// docs/benchmarks.md has its members.
[[nodiscard]] std::string BenchObject(const BenchFrame& frame, const BenchResult& result);
// "passed", "no kernel passed", "interrupted", "task_error"; of a given solution its status, or
// "none given".
[[nodiscard]] std::string StateOf(const BenchRow& row);

}  // namespace pragma
