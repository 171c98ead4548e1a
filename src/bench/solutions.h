// Matches existing solutions to the tasks of a suite, by name or number.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/suite.h"

namespace pragma {

// One solution of one task.
struct GivenSolution {
  SuiteTask task;
  std::string set;  // folder where it was found: a KernelBench run, or any folder
  int sample = 0;   // from KernelBench's file name; otherwise 0
  std::filesystem::path path;
};

struct GivenSolutions {
  std::vector<GivenSolution> found;  // by set, then in the order of the tasks, then by sample
  std::vector<std::string> sets;
  std::vector<std::filesystem::path> unmatched;  // .py and .cpp files that match no task
};

// Searches below `folder` for
//   level_L_problem_P_sample_S_kernel.py   as in KernelBench's runs/NAME/;
//   NAME.py, NAME_new.py, NAME.cpp         with a task's name;
//   12_anything.py, 12_anything.cpp        with a task's number, if only one task has it;
//   NAME/ with candidate.json or kernel.cpp.
// Returns kUsage if no solution matches, or if two files are the same sample of one task.
[[nodiscard]] Result<GivenSolutions> FindSolutions(const std::filesystem::path& folder,
                                                   std::span<const SuiteTask> tasks);

}  // namespace pragma
