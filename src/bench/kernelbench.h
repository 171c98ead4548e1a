// KernelBench's files from a benchmark's rows: names and texts that its own scripts read
// (docs/benchmarks.md). The times are those of the paper's protocol, which is KernelBench's shape:
// 100 calls, mean, deviation, least, most.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/row.h"
#include "bench/suite.h"

namespace pragma {

// KernelBench's level of a task: of "level2" 2, of any other folder 0.
[[nodiscard]] int LevelOf(const SuiteTask& task);
// "level_1_problem_23_sample_0_kernel.py"; the sample is the repeat, from 0.
[[nodiscard]] std::string SampleFileName(const BenchCell& cell);
// A name as a folder: what is not a letter, a digit, '.', '-' or '_' becomes '_'.
[[nodiscard]] std::string AsFolderName(const std::string& name);
// kUsage: two tasks of one level have the same number, so its files cannot tell them apart.
[[nodiscard]] Result<void> CheckNumbers(std::span<const SuiteTask> tasks);

// One of its run folders: an arm on one level.
struct KernelBenchRun {
  std::string name;
  int level = 0;
  std::vector<const BenchRow*> rows;
};
// A name for each arm; with the level behind it where the suite has several.
[[nodiscard]] std::vector<KernelBenchRun> KernelBenchRuns(std::span<const BenchRow> rows);

enum class BaselineOf { kEager, kCompile };
// Files of a run folder; `hardware` is the processor's name.
[[nodiscard]] std::string EvalResultsText(const KernelBenchRun& run, const std::string& hardware);
[[nodiscard]] std::string PassAtKText(const KernelBenchRun& run);
// What its analysis script writes; against eager, over the tasks that were selected.
[[nodiscard]] std::string AnalysisText(const KernelBenchRun& run, const std::string& hardware);
// results/timing/HARDWARE/NAME.json; the first time that a task was measured.
[[nodiscard]] std::string BaselineText(std::span<const BenchRow> rows, BaselineOf baseline,
                                       const std::string& hardware);
// "baseline_time_torch_cpu": not KernelBench's own name, since the times are not of its hardware.
[[nodiscard]] std::string BaselineName(BaselineOf baseline);

}  // namespace pragma
