// BenchOptions: what a benchmark runs, and with which budget.
#pragma once

#include <string>
#include <vector>

#include "app/context.h"
#include "app/search_choice.h"
#include "base/result.h"
#include "bench/plan.h"
#include "bench/suite.h"
#include "verify/options.h"

namespace pragma {

// Attempts of every run of a comparison, unless --budget says otherwise.
inline constexpr int kBenchAttempts = 15;

struct BenchOptions {
  std::string path;
  int level = 0;
  std::string tasks;
  std::string strategies;
  std::vector<std::string> models;
  int repeats = 1;
  int jobs = 1;
  std::string budget;  // attempts of each run, or "paper"
  TotalBudget total;
  bool list = false;
  std::string timing;           // "paper", or empty
  std::string kernelbench_out;  // folder; empty: none
  std::string evaluate_only;    // folder of solutions; empty: search
  bool no_compile_baseline = false;
  bool no_call = false;
  bool remeasure = false;
  std::string recorded_on;  // FINGERPRINT/THREADS: nothing is run, rows are of that machine
  SearchWish search;

  [[nodiscard]] bool papers_budget() const { return budget == "paper"; }
  [[nodiscard]] bool papers_timing() const { return timing == "paper"; }
  // The most that each evaluation measures.
  [[nodiscard]] Measure most() const { return MeasureWith(!no_compile_baseline); }
  // True as well for --kernelbench-out, because KernelBench's files hold times by the paper's
  // protocol.
  [[nodiscard]] bool WantsExtras() const { return papers_timing() || !kernelbench_out.empty(); }
};

[[nodiscard]] Result<std::vector<SuiteTask>> TasksOf(const BenchOptions& options);
// Fails with kUsage if a name is given twice.
[[nodiscard]] Result<BenchAxes> AxesOf(const BenchOptions& options, const AppContext& context);
// Chooses preset, models and budget of an arm's runs. All runs have the same budget, except that
// with --budget paper each strategy has its own.
[[nodiscard]] Result<SearchChoice> ChooseFor(const BenchOptions& options, const AppContext& context,
                                             const BenchArm& arm);
// Makes every choice once before anything starts, so that a typing error costs no time.
[[nodiscard]] Result<void> CheckChoices(const BenchOptions& options, const AppContext& context,
                                        const BenchAxes& axes);
// Describes the budget for people: "15 attempts for each run; 2.0M tokens for all".
[[nodiscard]] Result<std::string> BudgetText(const BenchOptions& options, const AppContext& context,
                                             const BenchAxes& axes);

}  // namespace pragma
