// Solutions that are there already, matched to the tasks of a suite by name or number.
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
  std::string set;  // the folder it was found in: a run of KernelBench, or any folder
  int sample = 0;   // of KernelBench's file name; else 0
  std::filesystem::path path;
};

struct GivenSolutions {
  std::vector<GivenSolution> found;  // by set, then in the tasks' order, then by sample
  std::vector<std::string> sets;
  std::vector<std::filesystem::path> unmatched;  // .py and .cpp files that fit no task
};

// Looks below `folder` for
//   level_L_problem_P_sample_S_kernel.py   as KernelBench's runs/NAME/ has them;
//   NAME.py, NAME_new.py, NAME.cpp         with a task's name;
//   12_anything.py, 12_anything.cpp        with a task's number, where one task alone has it;
//   NAME/ with candidate.json or kernel.cpp.
// kUsage: no solution fits, or two files are the same sample of one task.
[[nodiscard]] Result<GivenSolutions> FindSolutions(const std::filesystem::path& folder,
                                                   std::span<const SuiteTask> tasks);

}  // namespace pragma
