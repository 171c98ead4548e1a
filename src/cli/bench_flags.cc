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
  command.add_option("--strategy", options.strategies, "strategies, by comma (default: n-pragma)")
      ->type_name("A,B")
      ->group("Search");
  command
      .add_option("--model", options.models,
                  "openai:NAME, anthropic:NAME, command:'CMD', handoff:DIR, replay:FILE; may be "
                  "given several times: every strategy with each")
      ->allow_extra_args(false)
      ->type_name("SPEC")
      ->group("Search");
  command
      .add_option("--attempts,--budget", options.budget,
                  fmt::format("attempts of each run, the same for every strategy (default: {}); "
                              "paper: what each strategy's paper gives it",
                              kBenchAttempts))
      ->type_name("N|paper")
      ->group("Budget");
}

void AddTotals(BenchOptions& options, CLI::App& command) {
  command
      .add_option("--total-tokens", options.total.tokens, "of all runs together; parted equally")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--total-usd", options.total.usd, "likewise, of money")
      ->type_name("USD")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--total-seconds", options.total.seconds, "likewise, of the runs' own time")
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
  command.add_option("--level", options.level, "KernelBench's level")
      ->type_name("N")
      ->check(CLI::Range(1, 4));
  command.add_option("--tasks", options.tasks, "numbers of the tasks: 1-10,12 (default: all)")
      ->type_name("LIST");
  command.add_flag("--list", options.list, "only show which tasks are selected");
  command
      .add_option("--repeats", options.repeats, "runs of each task with each strategy and model")
      ->type_name("N")
      ->check(CLI::Range(1, kMostRepeats));
  command
      .add_option("--jobs", options.jobs,
                  "runs at a time: models are asked side by side, kernels timed one by one")
      ->type_name("N")
      ->check(CLI::Range(1, kMostJobs));
  command.add_flag("--no-compile-baseline", options.no_compile_baseline,
                   "do not measure torch.compile");
  CLI::Option* again =
      command.add_flag("--remeasure", options.remeasure,
                       "measure the best of runs that have ended once more, on this machine as it "
                       "is now; no model is asked");
  command.add_flag("--no-dropin", options.no_dropin,
                   "do not measure ModelNew against Model for the final best");
  CLI::Option* paper =
      command
          .add_option(
              "--timing", options.timing,
              "paper: time the final best also as the PRAGMA paper does (5 warm-ups, mean of "
              "100 calls), beside our own figures")
          ->type_name("paper")
          ->check(CLI::IsMember({"paper"}));
  CLI::Option* files =
      command
          .add_option("--kernelbench-out", options.kernelbench_out,
                      "write KernelBench's files there; times them as --timing paper does")
          ->type_name("DIR");
  command
      .add_option("--evaluate-only", options.evaluate_only,
                  "judge the solutions that are there instead of searching")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  // --recorded-on runs nothing, so the excluded flags would have nothing to time or write.
  command
      .add_option("--recorded-on", options.recorded_on,
                  "run nothing: the rows that --home holds of another machine")
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
