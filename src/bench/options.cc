#include "bench/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "app/context.h"
#include "app/new_run.h"
#include "app/search_choice.h"
#include "base/result.h"
#include "base/text.h"
#include "bench/plan.h"
#include "bench/suite.h"
#include "report/figures.h"

namespace pragma {
namespace {

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

Result<std::vector<SuiteTask>> TasksOf(const BenchOptions& options) {
  Selection selection{.path = options.path, .level = options.level};
  if (!options.tasks.empty()) selection.tasks = TRY(ParseTaskNumbers(options.tasks));
  return SelectTasks(selection);
}

Result<BenchAxes> AxesOf(const BenchOptions& options, const AppContext& context) {
  const std::string& named =
      options.strategies.empty() ? context.settings.strategy : options.strategies;
  BenchAxes axes{.strategies = {}, .models = options.models, .repeats = options.repeats};
  for (const std::string& name : Split(named.empty() ? "n-pragma" : named, ',')) {
    if (!Trim(name).empty()) axes.strategies.emplace_back(Trim(name));
  }
  if (axes.strategies.empty()) return FailUsage("--strategy names no strategy");
  TRY(CheckUnique(axes.strategies, "--strategy"));
  TRY(CheckUnique(axes.models, "--model"));
  const bool both = !options.search.conductor.empty() && !options.search.coder.empty();
  if (axes.models.size() > 1 && both)
    return FailUsage("--conductor and --coder leave nothing for several --model to differ in");
  return axes;
}

Result<SearchChoice> ChooseFor(const BenchOptions& options, const AppContext& context,
                               const BenchArm& arm) {
  SearchWish search = options.search;
  search.strategy = arm.strategy;
  search.model = arm.model;
  if (options.budget.empty()) {
    search.budget.attempts = context.settings.attempts.value_or(kBenchAttempts);
  } else if (!options.papers_budget()) {
    search.budget.attempts = TRY(AttemptsIn(options.budget));
  }
  SearchChoice choice = TRY(ChooseSearch(search, context));
  if (options.papers_budget()) choice.budget.attempts = choice.preset.attempts;
  // Kernels that one run of the comparison found must not help the next run.
  std::erase(choice.preset.seeds, "earlier");
  return choice;
}

Result<void> CheckChoices(const BenchOptions& options, const AppContext& context,
                          const BenchAxes& axes) {
  for (const BenchArm& arm : ArmsOf(axes)) {
    const SearchChoice choice = TRY(ChooseFor(options, context, arm));
    TRY(CheckModels(choice, context));
  }
  return {};
}

Result<std::string> BudgetText(const BenchOptions& options, const AppContext& context,
                               const BenchAxes& axes) {
  std::vector<std::string> attempts;
  std::string limits;
  for (const BenchArm& arm : ArmsOf(axes)) {
    const SearchChoice choice = TRY(ChooseFor(options, context, arm));
    attempts.push_back(fmt::format("{} {}", arm.name, choice.budget.attempts));
    if (!options.papers_budget()) attempts = {std::to_string(choice.budget.attempts)};
    limits = LimitsText(choice.budget);
  }
  const std::string whose = options.papers_budget() ? " (each its paper's own)" : " for every run";
  return "attempts: " + Join(attempts, ", ") + whose + limits + TotalText(options.total);
}

}  // namespace pragma
