// Suite: the tasks that a benchmark selects from a KernelBench checkout, a folder of tasks, or a
// list.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

struct SuiteTask {
  std::filesystem::path path;
  std::string name;   // file name without ".py"
  std::string group;  // "level1", or the name of the folder
  int number = 0;     // KernelBench's id (from the file name), else the position, from 1
};

struct Selection {
  std::filesystem::path path;
  int level = 0;        // KernelBench's level; 0: all
  std::set<int> tasks;  // task numbers; empty: all
};

// Parses "1-10,12": numbers and ranges from 1.
[[nodiscard]] Result<std::set<int>> ParseTaskNumbers(std::string_view text);

// Selects tasks in a stable order. `selection.path` is a KernelBench checkout (a folder with
// KernelBench/level1), a folder with level1/ in it, any folder with .py files (searched
// recursively), a list file, or one .py file. A list file has one path per line, relative to
// itself, and '#' begins a comment. Returns kUsage if no task is selected.
[[nodiscard]] Result<std::vector<SuiteTask>> SelectTasks(const Selection& selection);

}  // namespace pragma
