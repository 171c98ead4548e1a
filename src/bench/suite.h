// Suite: the tasks that a benchmark selects, from a KernelBench checkout, a folder of tasks, or a
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
  std::string group;  // "level1", or the folder's name
  int number = 0;  // KernelBench's id (the file name's number); else its place in the suite, from 1
};

struct Selection {
  std::filesystem::path path;
  int level = 0;        // KernelBench's; 0: all
  std::set<int> tasks;  // numbers; empty: all
};

// "1-10,12": numbers and ranges from 1.
[[nodiscard]] Result<std::set<int>> ParseTaskNumbers(std::string_view text);

// `selection.path`: a KernelBench checkout (a folder with KernelBench/level1), a folder with
// level1/ in it, any folder of .py files (below it too), a list file (one path on each line,
// relative to it; '#' begins a comment), or one .py file. In a stable order. kUsage when nothing is
// selected.
[[nodiscard]] Result<std::vector<SuiteTask>> SelectTasks(const Selection& selection);

}  // namespace pragma
