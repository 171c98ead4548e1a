// pragma bench runs every strategy and model on the tasks of a suite. Runs that ended before are
// kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/workbench.h"
#include "base/log.h"
#include "base/result.h"
#include "bench/cells.h"
#include "bench/given.h"
#include "bench/kernelbench.h"
#include "bench/kernelbench_files.h"
#include "bench/loop.h"
#include "bench/options.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/row.h"
#include "bench/solutions.h"
#include "bench/suite.h"
#include "cli/bench_flags.h"
#include "cli/command.h"
#include "cli/judging_flags.h"

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

BenchProgress ProgressOf(const Context& context) {
  return {.terminal = context.console.err,
          .note = [&context](const std::string& line) { context.console.Note(line); }};
}

// Runs the cells, reports each row as it is done, and prints the final report.
Result<int> RunAndReport(const Context& context, const BenchOptions& options,
                         const Workbench& bench, Benchmark benchmark, const RunCell& run) {
  const std::vector<BenchCell>& cells = benchmark.cells;
  context.console.Note(benchmark.frame.budget);
  std::size_t done = 0;
  const auto on_row = [&](const BenchRow& row) {
    context.console.Note(fmt::format("[{}/{}] {}", ++done, cells.size(), BenchLine(row)));
  };
  const BenchResult result =
      TRY(RunBench(cells, {.jobs = options.jobs, .total = options.total}, run, on_row));
  if (!options.kernelbench_out.empty()) {
    benchmark.frame.kernelbench =
        TRY(WriteKernelBench(options.kernelbench_out, result.rows, bench.machine().cpu));
  }
  context.console.PrintJson(BenchObject(benchmark.frame, result));
  context.console.Print(BenchText(context.console.out, benchmark.frame, result));
  return result.interrupted ? kExitInterrupted : kExitGood;
}

Result<int> Search(const Context& context, const BenchFlags& flags,
                   const std::vector<SuiteTask>& tasks) {
  const BenchOptions& options = flags.options;
  const BenchAxes axes = TRY(AxesOf(options, context.app));
  TRY(CheckChoices(options, context.app, axes));
  const Benchmark benchmark{.cells = CellsOf(tasks, axes),
                            .frame = {.arms = ArmsOf(axes),
                                      .budget = TRY(BudgetText(options, context.app, axes)),
                                      .repeats = options.repeats,
                                      .jobs = options.jobs,
                                      .kernelbench = {}}};
  const JudgingOptions judging = flags.judging.Over(context.app.settings);
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags.judging.sandbox())));
  CellRunner runner(context.app, options, judging, *bench,
                    options.total.Share(benchmark.cells.size()), ProgressOf(context));
  TRY(runner.CheckRecordedOn());
  return RunAndReport(
      context, options, *bench, benchmark,
      [&runner](const BenchCell& cell, Spending spending) { return runner.Run(cell, spending); });
}

Result<int> EvaluateGiven(const Context& context, const BenchFlags& flags,
                          const std::vector<SuiteTask>& tasks) {
  const BenchOptions& options = flags.options;
  const GivenSolutions given = TRY(FindSolutions(options.evaluate_only, tasks));
  for (const auto& path : given.unmatched)
    Log(LogLevel::kWarning, path.string() + " fits no selected task; it is left out");
  int repeats = 1;
  for (const GivenSolution& solution : given.found)
    repeats = std::max(repeats, solution.sample + 1);
  const Benchmark benchmark{.cells = CellsOfGiven(given, tasks),
                            .frame = {.arms = ArmsOfGiven(given),
                                      .budget = "none spent: existing solutions are judged",
                                      .repeats = repeats,
                                      .jobs = options.jobs,
                                      .kernelbench = {}}};
  const JudgingOptions judging = flags.judging.Over(context.app.settings);
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags.judging.sandbox())));
  GivenRunner runner(context.app, options, judging, *bench, given, ProgressOf(context));
  return RunAndReport(
      context, options, *bench, benchmark,
      [&runner](const BenchCell& cell, Spending spending) { return runner.Run(cell, spending); });
}

Result<int> Bench(const Context& context, const BenchFlags& flags) {
  const std::vector<SuiteTask> tasks = TRY(TasksOf(flags.options));
  if (flags.options.list) return List(context, tasks);
  if (!flags.options.kernelbench_out.empty()) TRY(CheckNumbers(tasks));
  return flags.options.evaluate_only.empty() ? Search(context, flags, tasks)
                                             : EvaluateGiven(context, flags, tasks);
}

}  // namespace

void AddBench(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "bench", "compare strategies on the tasks of a suite",
                 "pragma bench KernelBench/ --level 1 --tasks 1-10 --strategy "
                 "pragma,n-pragma --model openai:NAME --jobs 4");
  const auto flags = std::make_shared<BenchFlags>();
  AddBenchFlags(command, *flags);
  registry.actions[&command] = [flags](const Context& context) { return Bench(context, *flags); };
}

}  // namespace pragma
