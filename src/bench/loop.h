// The loop over a benchmark's cells: several run at a time, each produces one row, and the rows are
// in a fixed order.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "bench/plan.h"
#include "bench/row.h"

namespace pragma {

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
