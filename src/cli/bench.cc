// pragma bench runs every strategy and model on the tasks of a suite. Runs that ended before are
// kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "bench/kernelbench.h"
#include "bench/loop.h"
#include "bench/row.h"
#include "bench/solutions.h"
#include "bench/suite.h"
#include "cli/bench_cells.h"
#include "cli/bench_flags.h"
#include "cli/bench_given.h"
#include "cli/bench_kernelbench.h"
#include "cli/bench_report.h"
#include "cli/command.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"

namespace pragma {
namespace {

// A benchmark that is ready to begin.
struct Benchmark {
  std::vector<BenchCell> cells;
  BenchFrame frame;
};

Result<int> List(const Context& context, const std::vector<SuiteTask>& tasks) {
  context.console.PrintJson(SuiteObject(tasks));
  context.console.Print(SuiteText(context.console.out, tasks));
  return kExitGood;
}

// Runs the cells, reports each row as it is done, and prints the final report.
Result<int> RunAndReport(const Context& context, const BenchFlags& flags, const Workbench& bench,
                         Benchmark benchmark, const RunCell& run) {
  const std::vector<BenchCell>& cells = benchmark.cells;
  context.console.Note(benchmark.frame.budget);
  std::size_t done = 0;
  const auto on_row = [&](const BenchRow& row) {
    context.console.Note(fmt::format("[{}/{}] {}", ++done, cells.size(), BenchLine(row)));
  };
  const BenchResult result =
      TRY(RunBench(cells, {.jobs = flags.jobs, .total = flags.total}, run, on_row));
  if (!flags.kernelbench_out.empty()) {
    benchmark.frame.kernelbench =
        TRY(WriteKernelBench(flags.kernelbench_out, result.rows, bench.machine().cpu));
  }
  context.console.PrintJson(BenchObject(benchmark.frame, result));
  context.console.Print(BenchText(context.console.out, benchmark.frame, result));
  return result.interrupted ? kExitInterrupted : kExitGood;
}

Result<int> Search(const Context& context, const BenchFlags& flags,
                   const std::vector<SuiteTask>& tasks) {
  const BenchAxes axes = TRY(AxesOf(flags, context));
  TRY(CheckChoices(flags, context, axes));
  const Benchmark benchmark{.cells = CellsOf(tasks, axes),
                            .frame = {.arms = ArmsOf(axes),
                                      .budget = TRY(BudgetText(flags, context, axes)),
                                      .repeats = flags.repeats,
                                      .jobs = flags.jobs,
                                      .kernelbench = {}}};
  const VerifyFlags verify = flags.verify.With(context.settings);
  const auto bench = TRY(Workbench::Create(context, verify.workbench_options()));
  CellRunner runner(context, flags, verify, *bench, flags.total.Share(benchmark.cells.size()));
  TRY(runner.CheckRecordedOn());
  return RunAndReport(
      context, flags, *bench, benchmark,
      [&runner](const BenchCell& cell, Spending spending) { return runner.Run(cell, spending); });
}

Result<int> EvaluateGiven(const Context& context, const BenchFlags& flags,
                          const std::vector<SuiteTask>& tasks) {
  const GivenSolutions given = TRY(FindSolutions(flags.evaluate_only, tasks));
  for (const auto& path : given.unmatched)
    Log(LogLevel::kWarning, path.string() + " fits no selected task; it is left out");
  int repeats = 1;
  for (const GivenSolution& solution : given.found)
    repeats = std::max(repeats, solution.sample + 1);
  const Benchmark benchmark{.cells = CellsOfGiven(given, tasks),
                            .frame = {.arms = ArmsOfGiven(given),
                                      .budget = "none spent: solutions that are there are judged",
                                      .repeats = repeats,
                                      .jobs = flags.jobs,
                                      .kernelbench = {}}};
  const VerifyFlags verify = flags.verify.With(context.settings);
  const auto bench = TRY(Workbench::Create(context, verify.workbench_options()));
  GivenRunner runner(context, flags, verify, *bench, given);
  return RunAndReport(
      context, flags, *bench, benchmark,
      [&runner](const BenchCell& cell, Spending spending) { return runner.Run(cell, spending); });
}

Result<int> Bench(const Context& context, const BenchFlags& flags) {
  const std::vector<SuiteTask> tasks = TRY(TasksOf(flags));
  if (flags.list) return List(context, tasks);
  if (!flags.kernelbench_out.empty()) TRY(CheckNumbers(tasks));
  return flags.evaluate_only.empty() ? Search(context, flags, tasks)
                                     : EvaluateGiven(context, flags, tasks);
}

}  // namespace

void AddBench(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "bench", "compare strategies on the tasks of a suite",
                 "pragma bench KernelBench/ --level 1 --tasks 1-10 --strategy "
                 "pragma,n-pragma --model openai:NAME --jobs 4");
  const auto flags = std::make_shared<BenchFlags>();
  flags->AddTo(command);
  registry.actions[&command] = [flags](const Context& context) { return Bench(context, *flags); };
}

}  // namespace pragma
