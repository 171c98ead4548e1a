#include "bench/loop.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "bench/suite.h"

namespace pragma {
namespace {

// A task that fails by itself is a result of the suite, not trouble of ours.
Result<BenchRow> RunOne(const BenchCell& cell, const RunCell& run) {
  Result<BenchRow> row = run(cell);
  if (row || row.error().kind != ErrorKind::kTask) return row;
  return BenchRow{.cell = cell, .problem = row.error().message};
}

}  // namespace

Result<BenchResult> RunBench(const std::vector<SuiteTask>& tasks,
                             const std::vector<std::string>& strategies, const RunCell& run,
                             const std::function<void(const BenchRow&)>& on_row) {
  BenchResult result;
  for (const SuiteTask& task : tasks) {
    for (const std::string& strategy : strategies) {
      Result<BenchRow> row = RunOne({.task = task, .strategy = strategy}, run);
      result.interrupted = Interrupted() || (!row && row.error().kind == ErrorKind::kInterrupted);
      if (!row && !result.interrupted) return std::unexpected(row.error());
      if (row) {
        if (on_row) on_row(*row);
        result.rows.push_back(std::move(*row));
      }
      if (result.interrupted) return result;
    }
  }
  return result;
}

}  // namespace pragma
