#include "cli/bench_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "bench/options.h"
#include "cli/search_flags.h"

namespace pragma {
namespace {

constexpr int kMostJobs = 64;
constexpr int kMostRepeats = 1000;

// Replaces those flags of a search that take lists, or mean something else, in a benchmark.
void ReplaceSearchFlags(BenchOptions& options, CLI::App& command) {
  for (const char* name : {"--strategy", "--model", "--attempts"})
    command.remove_option(command.get_option(name));
  command
      .add_option("--strategy", options.strategies,
                  "comma-separated strategies (default: n-pragma)")
      ->type_name("A,B")
      ->group("Search");
  command
      .add_option("--model", options.models,
                  "openai:NAME, responses:NAME, anthropic:NAME, command:'CMD', handoff:DIR, "
                  "replay:FILE; repeat "
                  "the flag to run every strategy with several models")
      ->allow_extra_args(false)
      ->type_name("SPEC")
      ->group("Search");
  command
      .add_option("--attempts,--budget", options.budget,
                  fmt::format("attempts of each run, the same for every strategy (default: {}); "
                              "paper: as many as in each strategy's paper",
                              kBenchAttempts))
      ->type_name("N|paper")
      ->group("Budget");
}

void AddTotals(BenchOptions& options, CLI::App& command) {
  command
      .add_option("--total-tokens", options.total.tokens,
                  "token budget for the whole benchmark, split equally")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--total-usd", options.total.usd, "the same, in US dollars")
      ->type_name("USD")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--total-seconds", options.total.seconds, "the same, in seconds of run time")
      ->type_name("S")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
}

}  // namespace

void AddBenchFlags(CLI::App& command, BenchFlags& flags) {
  BenchOptions& options = flags.options;
  command
      .add_option("PATH", options.path, "KernelBench checkout, folder of tasks, list file, or task")
      ->required();
  command.add_option("--level", options.level, "KernelBench level")
      ->type_name("N")
      ->check(CLI::Range(1, 4));
  command.add_option("--tasks", options.tasks, "task numbers, e.g. 1-10,12 (default: all)")
      ->type_name("LIST");
  command.add_flag("--list", options.list, "only list the selected tasks");
  command
      .add_option("--repeats", options.repeats, "runs of each task with each strategy and model")
      ->type_name("N")
      ->check(CLI::Range(1, kMostRepeats));
  command
      .add_option("--jobs", options.jobs,
                  "concurrent runs: model calls overlap, kernels are timed one at a time")
      ->type_name("N")
      ->check(CLI::Range(1, kMostJobs));
  command.add_flag("--no-compile-baseline", options.no_compile_baseline,
                   "do not measure torch.compile");
  CLI::Option* again = command.add_flag(
      "--remeasure", options.remeasure,
      "measure the best kernels of finished runs again on this machine, without a model");
  command.add_flag("--no-call", options.no_call,
                   "do not measure the call of ModelNew for the final best");
  CLI::Option* paper = command
                           .add_option("--timing", options.timing,
                                       "paper: also time the final best as the PRAGMA paper does "
                                       "(5 warm-ups, mean of 100 calls)")
                           ->type_name("paper")
                           ->check(CLI::IsMember({"paper"}));
  CLI::Option* files =
      command
          .add_option("--kernelbench-out", options.kernelbench_out,
                      "write KernelBench's files to DIR; times them as --timing paper does")
          ->type_name("DIR");
  command
      .add_option("--evaluate-only", options.evaluate_only,
                  "judge the solutions in DIR instead of searching")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  // --recorded-on runs nothing, so the excluded flags would have nothing to time or write.
  command
      .add_option("--recorded-on", options.recorded_on,
                  "run nothing: show the rows in --home that another machine recorded")
      ->type_name("MACHINE")
      ->excludes(again)
      ->excludes(paper)
      ->excludes(files);
  AddSearchFlags(command, options.search);
  ReplaceSearchFlags(options, command);
  AddTotals(options, command);
  flags.judging.AddTo(command);
}

}  // namespace pragma
