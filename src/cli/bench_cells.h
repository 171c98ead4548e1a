// CellRunner: the cells of a benchmark on a workbench: runs each, goes on with one that was broken
// off, or finds that the store has it.
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

// Threads share one; each call has a task for itself.
class CellRunner final {
 public:
  // All outlive it. `share`: of the total budget, one cell's.
  CellRunner(const Context& context, const BenchFlags& flags, const VerifyFlags& verify,
             Workbench& bench, const TotalBudget& share)
      : context_(context),
        flags_(flags),
        verify_(verify),
        bench_(bench),
        share_(share),
        opener_(bench, verify, flags.most(), static_cast<std::size_t>(flags.jobs)) {}
  [[nodiscard]] Result<std::optional<BenchRow>> Run(const BenchCell& cell, Spending spending);
  // kUsage: --recorded-on names a machine that the store knows nothing of.
  [[nodiscard]] Result<void> CheckRecordedOn() const;

 private:
  struct Place {  // where runs are made, or were
    std::string fingerprint;
    std::string threads;
  };
  [[nodiscard]] Place PlaceOfRuns() const;
  struct Plan {
    SearchChoice choice;  // its budget cut to the share
    std::string key;      // of the cell's run in the store
  };
  [[nodiscard]] Result<Plan> PlanFor(const BenchCell& cell) const;
  [[nodiscard]] Result<std::string> KeyOf(const BenchCell& cell, const SearchChoice& choice) const;
  [[nodiscard]] Result<std::optional<RunRecord>> KnownRun(const std::string& key);
  [[nodiscard]] Result<BenchRow> Kept(const BenchCell& cell, const RunRecord& run);
  // `task`: the row's, where it is open already.
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
