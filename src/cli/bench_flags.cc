#include "cli/bench_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "bench/loop.h"
#include "bench/row.h"
#include "bench/suite.h"
#include "cli/command.h"
#include "cli/search_flags.h"
#include "cli/search_run.h"
#include "report/figures.h"
#include "search/session.h"

namespace pragma {
namespace {

constexpr int kMostJobs = 64;
constexpr int kMostRepeats = 1000;

// Replaces those flags of a search that take lists, or mean something else, in a benchmark.
void ReplaceSearchFlags(BenchFlags& flags, CLI::App& command) {
  for (const char* name : {"--strategy", "--model", "--attempts"})
    command.remove_option(command.get_option(name));
  command.add_option("--strategy", flags.strategies, "strategies, by comma (default: n-pragma)")
      ->type_name("A,B")
      ->group("Search");
  command
      .add_option("--model", flags.models,
                  "openai:NAME, anthropic:NAME, command:'CMD', handoff:DIR, replay:FILE; may be "
                  "given several times: every strategy with each")
      ->allow_extra_args(false)
      ->type_name("SPEC")
      ->group("Search");
  command
      .add_option("--attempts,--budget", flags.budget,
                  fmt::format("attempts of each run, the same for every strategy (default: {}); "
                              "paper: what each strategy's paper gives it",
                              kBenchAttempts))
      ->type_name("N|paper")
      ->group("Budget");
}

void AddTotals(BenchFlags& flags, CLI::App& command) {
  command.add_option("--total-tokens", flags.total.tokens, "of all runs together; parted equally")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--total-usd", flags.total.usd, "likewise, of money")
      ->type_name("USD")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--total-seconds", flags.total.seconds, "likewise, of the runs' own time")
      ->type_name("S")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
}

Result<void> CheckUnique(const std::vector<std::string>& names, const std::string& flag) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      return FailUsage(flag + " names '" + name + "' twice; for more runs of one: --repeats N");
  }
  return {};
}

Result<int> AttemptsIn(const std::string& budget) {
  int attempts = 0;
  const auto [end, error] = std::from_chars(budget.data(), budget.data() + budget.size(), attempts);
  if (error != std::errc() || end != budget.data() + budget.size() || attempts < 1)
    return FailUsage("--budget '" + budget + "': write a number of attempts, or paper");
  return attempts;
}

// Describes the limits of one run that the cell's share of the total budget may lower.
std::string LimitsText(const Budget& budget) {
  std::string text;
  if (budget.seconds > 0) text += ", " + FormatElapsed(budget.seconds);
  if (budget.tokens > 0) text += ", " + FormatCount(budget.tokens) + " tokens";
  if (budget.usd > 0) text += ", " + FormatMoney(budget.usd);
  return text;
}

std::string TotalText(const TotalBudget& total) {
  Budget limits{.seconds = total.seconds, .tokens = total.tokens, .usd = total.usd};
  const std::string text = LimitsText(limits);
  return text.empty() ? "" : "; all runs together:" + text.substr(1);
}

}  // namespace

void BenchFlags::AddTo(CLI::App& command) {
  command.add_option("PATH", path, "KernelBench checkout, folder of tasks, list file, or task")
      ->required();
  command.add_option("--level", level, "KernelBench's level")
      ->type_name("N")
      ->check(CLI::Range(1, 4));
  command.add_option("--tasks", tasks, "numbers of the tasks: 1-10,12 (default: all)")
      ->type_name("LIST");
  command.add_flag("--list", list, "only show which tasks are selected");
  command.add_option("--repeats", repeats, "runs of each task with each strategy and model")
      ->type_name("N")
      ->check(CLI::Range(1, kMostRepeats));
  command
      .add_option("--jobs", jobs,
                  "runs at a time: models are asked side by side, kernels timed one by one")
      ->type_name("N")
      ->check(CLI::Range(1, kMostJobs));
  command.add_flag("--no-compile-baseline", no_compile_baseline, "do not measure torch.compile");
  CLI::Option* again =
      command.add_flag("--remeasure", remeasure,
                       "measure the best of runs that have ended once more, on this machine as it "
                       "is now; no model is asked");
  command.add_flag("--no-dropin", no_dropin,
                   "do not measure ModelNew against Model for the final best");
  CLI::Option* paper =
      command
          .add_option(
              "--timing", timing,
              "paper: time the final best also as the PRAGMA paper does (5 warm-ups, mean of "
              "100 calls), beside our own figures")
          ->type_name("paper")
          ->check(CLI::IsMember({"paper"}));
  CLI::Option* files =
      command
          .add_option("--kernelbench-out", kernelbench_out,
                      "write KernelBench's files there; times them as --timing paper does")
          ->type_name("DIR");
  command
      .add_option("--evaluate-only", evaluate_only,
                  "judge the solutions that are there instead of searching")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  // --recorded-on runs nothing, so the excluded flags would have nothing to time or write.
  command
      .add_option("--recorded-on", recorded_on,
                  "run nothing: the rows that --home holds of another machine")
      ->type_name("MACHINE")
      ->excludes(again)
      ->excludes(paper)
      ->excludes(files);
  search.AddTo(command);
  ReplaceSearchFlags(*this, command);
  AddTotals(*this, command);
  verify.AddTo(command);
}

Result<std::vector<SuiteTask>> TasksOf(const BenchFlags& flags) {
  Selection selection{.path = flags.path, .level = flags.level};
  if (!flags.tasks.empty()) selection.tasks = TRY(ParseTaskNumbers(flags.tasks));
  return SelectTasks(selection);
}

Result<BenchAxes> AxesOf(const BenchFlags& flags, const Context& context) {
  const std::string& named =
      flags.strategies.empty() ? context.settings.strategy : flags.strategies;
  BenchAxes axes{.strategies = {}, .models = flags.models, .repeats = flags.repeats};
  for (const std::string& name : Split(named.empty() ? "n-pragma" : named, ',')) {
    if (!Trim(name).empty()) axes.strategies.emplace_back(Trim(name));
  }
  if (axes.strategies.empty()) return FailUsage("--strategy names no strategy");
  TRY(CheckUnique(axes.strategies, "--strategy"));
  TRY(CheckUnique(axes.models, "--model"));
  const bool both = !flags.search.conductor.empty() && !flags.search.coder.empty();
  if (axes.models.size() > 1 && both)
    return FailUsage("--conductor and --coder leave nothing for several --model to differ in");
  return axes;
}

Result<SearchChoice> ChooseFor(const BenchFlags& flags, const Context& context,
                               const BenchArm& arm) {
  SearchFlags search = flags.search;
  search.strategy = arm.strategy;
  search.model = arm.model;
  if (flags.budget.empty()) {
    search.budget.attempts = context.settings.attempts.value_or(kBenchAttempts);
  } else if (!flags.papers_budget()) {
    search.budget.attempts = TRY(AttemptsIn(flags.budget));
  }
  SearchChoice choice = TRY(ChooseSearch(search, context));
  if (flags.papers_budget()) choice.budget.attempts = choice.preset.attempts;
  // Kernels that one run of the comparison found must not help the next run.
  std::erase(choice.preset.seeds, "earlier");
  return choice;
}

Result<void> CheckChoices(const BenchFlags& flags, const Context& context, const BenchAxes& axes) {
  for (const BenchArm& arm : ArmsOf(axes)) {
    const SearchChoice choice = TRY(ChooseFor(flags, context, arm));
    TRY(CheckModels(choice, context));
  }
  return {};
}

Result<std::string> BudgetText(const BenchFlags& flags, const Context& context,
                               const BenchAxes& axes) {
  std::vector<std::string> attempts;
  std::string limits;
  for (const BenchArm& arm : ArmsOf(axes)) {
    const SearchChoice choice = TRY(ChooseFor(flags, context, arm));
    attempts.push_back(fmt::format("{} {}", arm.name, choice.budget.attempts));
    if (!flags.papers_budget()) attempts = {std::to_string(choice.budget.attempts)};
    limits = LimitsText(choice.budget);
  }
  const std::string whose = flags.papers_budget() ? " (each its paper's own)" : " for every run";
  return "attempts: " + Join(attempts, ", ") + whose + limits + TotalText(flags.total);
}

}  // namespace pragma
