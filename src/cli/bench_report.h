// The rows of a benchmark, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "bench/loop.h"
#include "bench/suite.h"
#include "report/terminal.h"

namespace pragma {

[[nodiscard]] std::string SuiteText(const Terminal& terminal, const std::vector<SuiteTask>& tasks);
[[nodiscard]] std::string SuiteObject(const std::vector<SuiteTask>& tasks);

// One row as a line of progress.
[[nodiscard]] std::string BenchLine(const BenchRow& row);
[[nodiscard]] std::string BenchText(const Terminal& terminal, const BenchResult& result);
// {"schema", "strategies": {NAME: {"success", "tasks"}}, "tasks": [row], "interrupted"}
[[nodiscard]] std::string BenchObject(const BenchResult& result);

}  // namespace pragma
