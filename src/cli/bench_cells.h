// CellRunner runs the cells of a benchmark on a workbench. It searches a cell anew, resumes one
// that was interrupted, or takes the result from the store when the cell has already finished.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "bench/loop.h"
#include "bench/row.h"
#include "cli/bench_flags.h"
#include "cli/command.h"
#include "cli/search_flags.h"
#include "cli/search_run.h"
#include "cli/task_opener.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "store/store.h"

namespace pragma {

// Thread-safe: several threads may share one CellRunner. Each call opens its own task.
class CellRunner final {
 public:
  // All arguments must outlive the runner. `share` is one cell's share of the total budget.
  CellRunner(const Context& context, const BenchFlags& flags, const VerifyFlags& verify,
             Workbench& bench, const TotalBudget& share)
      : context_(context),
        flags_(flags),
        verify_(verify),
        bench_(bench),
        share_(share),
        opener_(bench, verify, flags.most(), static_cast<std::size_t>(flags.jobs)) {}
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
  const Context& context_;
  const BenchFlags& flags_;
  const VerifyFlags& verify_;
  Workbench& bench_;
  TotalBudget share_;
  TaskOpener opener_;
};

}  // namespace pragma
