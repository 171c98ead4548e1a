// What a benchmark runs: its cells, the arms that it compares, and the budget of all together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/suite.h"

namespace pragma {

struct Spent;

// One task with one strategy, model and repeat.
struct BenchCell {
  SuiteTask task;
  std::string strategy;
  std::string model;  // value of --model; empty: that of the settings
  int repeat = 1;     // 1, 2, ...
  std::string arm;    // BenchArm::name
};

// The dimensions of a benchmark apart from its tasks.
struct BenchAxes {
  std::vector<std::string> strategies;
  std::vector<std::string> models;  // empty: those of the settings
  int repeats = 1;
};

// A strategy with a model, which is the unit of a comparison.
struct BenchArm {
  std::string name;  // "pragma", or "pragma @ openai:x" if there are several models
  std::string strategy;
  std::string model;
};
[[nodiscard]] std::vector<BenchArm> ArmsOf(const BenchAxes& axes);

// Returns all cells. The outermost loop is over tasks, then strategies, models and repeats.
[[nodiscard]] std::vector<BenchCell> CellsOf(const std::vector<SuiteTask>& tasks,
                                             const BenchAxes& axes);

// The budget of all cells together; 0: unlimited.
struct TotalBudget {
  std::int64_t tokens = 0;
  double usd = 0;
  double seconds = 0;

  [[nodiscard]] bool limited() const { return tokens > 0 || usd > 0 || seconds > 0; }
  [[nodiscard]] bool SpentBy(const Spent& spent) const;
  // Returns one of `cells` equal parts, so that no cell gets more because it started earlier.
  [[nodiscard]] TotalBudget Share(std::size_t cells) const;
};

}  // namespace pragma
