// The loop over a benchmark's cells: several run at a time, each produces one row, and the rows are
// in a fixed order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/row.h"
#include "bench/suite.h"

namespace pragma {

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

struct BenchLimits {
  int jobs = 1;
  TotalBudget total;
};

enum class Spending { kAllowed, kOver };
// Produces the row of a cell. With kOver it may only return a row that already existed, otherwise
// none. Several threads call it at the same time.
using RunCell = std::function<Result<std::optional<BenchRow>>(const BenchCell&, Spending)>;

struct BenchResult {
  std::vector<BenchRow> rows;        // in the order of the cells, regardless of which ended first
  std::vector<BenchCell> not_begun;  // because the total budget was spent
  bool interrupted = false;          // rows holds those that were finished
};

// A task that fails (kTask) yields a row. After any other Error no further cell begins, running
// cells are finished, and the error is returned. `on_row` is called as each cell ends, one call at
// a time.
[[nodiscard]] Result<BenchResult> RunBench(const std::vector<BenchCell>& cells,
                                           const BenchLimits& limits, const RunCell& run,
                                           const std::function<void(const BenchRow&)>& on_row = {});

}  // namespace pragma
