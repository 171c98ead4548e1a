// CellRunner runs the cells of a benchmark on a workbench. It searches a cell anew, resumes one
// that was interrupted, or takes the result from the store when the cell has already finished.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "app/context.h"
#include "app/search_choice.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "bench/loop.h"
#include "bench/options.h"
#include "bench/progress.h"
#include "bench/row.h"
#include "bench/task_opener.h"
#include "core/judging.h"
#include "store/store.h"

namespace pragma {

// Thread-safe: several threads may share one CellRunner. Each call opens its own task.
class CellRunner final {
 public:
  // All arguments must outlive the runner. `share` is one cell's share of the total budget.
  CellRunner(const AppContext& context, const BenchOptions& options, const JudgingOptions& judging,
             Workbench& bench, const TotalBudget& share, BenchProgress progress)
      : context_(context),
        options_(options),
        judging_(judging),
        bench_(bench),
        share_(share),
        progress_(std::move(progress)),
        opener_(bench, judging, options.most(), static_cast<std::size_t>(options.jobs)) {}
  [[nodiscard]] Result<std::optional<BenchRow>> Run(const BenchCell& cell, Spending spending);
  // Fails with kUsage when --recorded-on names a machine that the store knows nothing about.
  [[nodiscard]] Result<void> CheckRecordedOn() const;

 private:
  struct Place {  // the machine on which runs are made, or were recorded
    std::string fingerprint;
    std::string threads;
  };
  [[nodiscard]] Place PlaceOfRuns() const;
  struct Plan {
    SearchChoice choice;  // with its budget cut to the share
    std::string key;      // the store's key for the cell's run
  };
  [[nodiscard]] Result<Plan> PlanFor(const BenchCell& cell) const;
  [[nodiscard]] Result<std::string> KeyOf(const BenchCell& cell, const SearchChoice& choice) const;
  [[nodiscard]] Result<std::optional<RunRecord>> KnownRun(const std::string& key);
  [[nodiscard]] Result<BenchRow> Kept(const BenchCell& cell, const RunRecord& run);
  // `task` is the row's task where it is already open, else nullptr.
  [[nodiscard]] Result<void> AddExtrasOf(BenchRow& row, TaskBench* task);
  [[nodiscard]] Result<SearchPlan> Begin(const BenchCell& cell, const Plan& plan,
                                         const std::optional<RunRecord>& begun,
                                         const TaskBench& task);
  [[nodiscard]] Result<BenchRow> Search(const BenchCell& cell, const Plan& plan,
                                        const std::optional<RunRecord>& begun);
  const AppContext& context_;
  const BenchOptions& options_;
  const JudgingOptions& judging_;
  Workbench& bench_;
  TotalBudget share_;
  BenchProgress progress_;
  TaskOpener opener_;
};

}  // namespace pragma
