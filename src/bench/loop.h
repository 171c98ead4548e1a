// The loop over a benchmark's cells: several at a time, one row each, in an order of their own.
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

// What a benchmark is made of besides its tasks.
struct BenchAxes {
  std::vector<std::string> strategies;
  std::vector<std::string> models;  // empty: the settings' own
  int repeats = 1;
};

// A strategy with a model: what a comparison compares.
struct BenchArm {
  std::string name;  // "pragma"; "pragma @ openai:x" where there are several models
  std::string strategy;
  std::string model;
};
[[nodiscard]] std::vector<BenchArm> ArmsOf(const BenchAxes& axes);

// Tasks outside, then strategies, models, repeats.
[[nodiscard]] std::vector<BenchCell> CellsOf(const std::vector<SuiteTask>& tasks,
                                             const BenchAxes& axes);

// Of all cells together; 0: unlimited.
struct TotalBudget {
  std::int64_t tokens = 0;
  double usd = 0;
  double seconds = 0;

  [[nodiscard]] bool limited() const { return tokens > 0 || usd > 0 || seconds > 0; }
  [[nodiscard]] bool SpentBy(const Spent& spent) const;
  // Of `cells` equal parts one, so that no cell gets more for having come earlier.
  [[nodiscard]] TotalBudget Share(std::size_t cells) const;
};

struct BenchLimits {
  int jobs = 1;
  TotalBudget total;
};

enum class Spending { kAllowed, kOver };
// The row of a cell. With kOver only what was there before may be handed back: none otherwise.
// Called by several threads at once.
using RunCell = std::function<Result<std::optional<BenchRow>>(const BenchCell&, Spending)>;

struct BenchResult {
  std::vector<BenchRow> rows;        // in the order of the cells, whichever ended first
  std::vector<BenchCell> not_begun;  // the total budget was spent
  bool interrupted = false;          // rows hold what was done
};

// A task that fails (kTask) is a row. After any other Error no further cell begins, those at work
// end, and it is returned. `on_row`: as each ends, one at a time.
[[nodiscard]] Result<BenchResult> RunBench(const std::vector<BenchCell>& cells,
                                           const BenchLimits& limits, const RunCell& run,
                                           const std::function<void(const BenchRow&)>& on_row = {});

}  // namespace pragma
