// Metrics of a benchmark as pure functions. docs/benchmarks.md defines each. Failures count in the
// denominators of success and fast_p. Means are computed twice: over solved cells, and over all
// cells with a failure as 1 ("fallback": without a kernel, eager is run).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/curve.h"
#include "core/status.h"
#include "core/timing.h"

namespace pragma {

struct BenchRow;

// KernelBench's thresholds.
inline constexpr std::array<double, 6> kFastThresholds{0.0, 0.5, 0.8, 1.0, 1.5, 2.0};

// One cell in the form that the metrics take.
struct Score {
  std::string task;
  std::string category;
  bool sound = false;  // according to the task's lint
  bool task_error = false;
  bool solved = false;
  std::optional<double> eager;    // speedups of the final best; set only if solved
  std::optional<double> compile;  // also unset if torch.compile was not measured
  std::optional<double> call;     // a call of ModelNew over the faster of eager and compile
  std::optional<double> paper;    // against eager by the paper's protocol, if requested
  std::vector<CurvePoint> curve;
};
[[nodiscard]] Score ScoreOf(const BenchRow& row);

struct Means {
  std::size_t count = 0;  // 0: all figures are 0
  double mean = 0;
  double geomean = 0;
  double median = 0;
};
[[nodiscard]] Means MeansOf(std::span<const double> ratios);

// Returns the share of all cells whose ratio is strictly above `threshold`. `ratio` is Score's
// eager or compile.
[[nodiscard]] double FastP(std::span<const Score> scores, std::optional<double> Score::* ratio,
                           double threshold);

// Rates per attempt, over the attempts of all runs together.
struct AttemptRates {
  std::size_t attempts = 0;
  double compiled = 0;  // produced a program: not refused, no compile or load error
  double correct = 0;   // passed
};
[[nodiscard]] AttemptRates RatesOf(std::span<const Score> scores);
[[nodiscard]] bool Compiled(Status status);

// Returns the probability that at least one of k draws from n samples is good, where c of the
// samples are good. It is the unbiased estimator 1 - C(n-c, k) / C(n, k). k > n counts as n.
[[nodiscard]] double PassAtK(std::size_t n, std::size_t c, std::size_t k);
// Returns the mean over tasks, where the draws are a task's repeats. It is none unless every task
// has k of them.
[[nodiscard]] std::optional<double> PassOverRepeats(std::span<const Score> scores, std::size_t k);
// Returns the mean over runs, where the draws are a run's attempts. They are independent only in
// strategy `sampling`.
[[nodiscard]] double PassOverAttempts(std::span<const Score> scores, std::size_t k);

struct Summary {
  std::size_t cells = 0;
  std::size_t tasks = 0;
  std::size_t solved = 0;
  std::size_t task_errors = 0;
  double success = 0;
  std::array<double, kFastThresholds.size()> fast_eager{};
  std::optional<std::array<double, kFastThresholds.size()>> fast_compile;  // none: not measured
  Means eager;                                                             // over solved cells
  Means call;                 // over solved cells whose call was timed
  Means eager_fallback;       // over all cells, failures as 1
  Means compile;              // over solved cells where it was measured
  Means paper;                // over solved cells where it was measured, by the paper's protocol
  double paper_fast_one = 0;  // fast_1 by the paper's protocol
  AttemptRates attempts;
  // Totals of all attempts.
  std::int64_t tokens = 0;
  double usd = 0;
  double seconds = 0;
};
[[nodiscard]] Summary Summarise(std::span<const Score> scores);
// Groups by Score::category, in its order.
[[nodiscard]] std::map<std::string, Summary> SummariseCategories(std::span<const Score> scores);
[[nodiscard]] std::vector<Score> SoundAlone(std::span<const Score> scores);

enum class GridOf { kAttempts, kTokens };
// The best result so far, over all cells, at one point of a grid. A run that has ended keeps its
// result.
struct GridPoint {
  std::int64_t at = 0;
  double solved = 0;            // share of all cells
  double geomean_fallback = 1;  // unsolved cells count as 1
};
// Returns 1, 2, ... (attempts), or equal steps (tokens), up to the largest run's value.
[[nodiscard]] std::vector<std::int64_t> GridFor(std::span<const Score> scores, GridOf axis);
[[nodiscard]] std::vector<GridPoint> BestSoFar(std::span<const Score> scores, GridOf axis,
                                               std::span<const std::int64_t> grid);

// Compares two arms on the tasks that they share. Each task gives one value: the difference between
// the arms' mean log speedups over its repeats.
struct PairedComparison {
  std::size_t tasks = 0;
  std::size_t solved_by_both = 0;
  std::size_t first_ahead = 0;  // by more than kMinimumEffect, failures as 1
  std::size_t second_ahead = 0;
  // Speed of the first arm over the second: geometric mean over tasks with a 95 % t interval. A
  // single task has no interval: low = 0, high = infinity.
  std::optional<Interval> fallback;  // over all shared tasks, failures as 1
  std::optional<Interval> solved;    // over tasks that both solved, using their solved repeats
};
[[nodiscard]] PairedComparison ComparePaired(std::span<const Score> first,
                                             std::span<const Score> second);

}  // namespace pragma
