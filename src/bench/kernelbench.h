// Writes KernelBench's files from a benchmark's rows, with the names and contents that
// KernelBench's own scripts read (docs/benchmarks.md). The times are those of the paper's protocol,
// which has KernelBench's form: 100 calls, mean, standard deviation, minimum, maximum.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/plan.h"
#include "bench/suite.h"

namespace pragma {

struct BenchRow;

// Returns a task's KernelBench level: 2 for "level2", 0 for any other folder.
[[nodiscard]] int LevelOf(const SuiteTask& task);
// Returns "level_1_problem_23_sample_0_kernel.py". The sample is the repeat, counted from 0.
[[nodiscard]] std::string SampleFileName(const BenchCell& cell);
// Turns a name into a folder name: every character except letters, digits, '.', '-' and '_' becomes
// '_'.
[[nodiscard]] std::string AsFolderName(const std::string& name);
// Returns kUsage if two tasks of one level have the same number, because the files could not tell
// them apart.
[[nodiscard]] Result<void> CheckNumbers(std::span<const SuiteTask> tasks);

// One of KernelBench's run folders: an arm on one level.
struct KernelBenchRun {
  std::string name;
  int level = 0;
  std::vector<const BenchRow*> rows;
};
// Returns a named run for each arm. The name includes the level if the suite has several.
[[nodiscard]] std::vector<KernelBenchRun> KernelBenchRuns(std::span<const BenchRow> rows);

enum class BaselineOf { kEager, kCompile };
// These functions return the files of a run folder. `hardware` is the name of the processor.
[[nodiscard]] std::string EvalResultsText(const KernelBenchRun& run, const std::string& hardware);
[[nodiscard]] std::string PassAtKText(const KernelBenchRun& run);
// Returns the output of KernelBench's analysis script: against eager, over the selected tasks.
[[nodiscard]] std::string AnalysisText(const KernelBenchRun& run, const std::string& hardware);
// Returns results/timing/HARDWARE/NAME.json, with the first time that was measured for each task.
[[nodiscard]] std::string BaselineText(std::span<const BenchRow> rows, BaselineOf baseline,
                                       const std::string& hardware);
// Returns "baseline_time_torch_cpu". This differs from KernelBench's own name because the times are
// not from its hardware.
[[nodiscard]] std::string BaselineName(BaselineOf baseline);

}  // namespace pragma
