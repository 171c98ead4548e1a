// Metrics of a benchmark, as pure functions; docs/benchmarks.md defines each. Failures count in the
// denominators of success and fast_p. Means are taken twice: over solved cells, and over all with a
// failure as 1 ("fallback": who has no kernel runs eager).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/row.h"
#include "core/evaluation.h"

namespace pragma {

// KernelBench's thresholds.
inline constexpr std::array<double, 6> kFastThresholds{0.0, 0.5, 0.8, 1.0, 1.5, 2.0};

// One cell as metrics see it.
struct Score {
  std::string task;
  std::string category;
  bool sound = false;  // the task's lint
  bool task_error = false;
  bool solved = false;
  std::optional<double> eager;    // speed-ups of the final best; only where solved
  std::optional<double> compile;  // none where torch.compile was not measured, too
  std::optional<double> paper;    // against eager by the paper's protocol, where it was asked for
  std::vector<CurvePoint> curve;
};
[[nodiscard]] Score ScoreOf(const BenchRow& row);

struct Means {
  std::size_t count = 0;  // 0: the figures are 0
  double mean = 0;
  double geomean = 0;
  double median = 0;
};
[[nodiscard]] Means MeansOf(std::span<const double> ratios);

// The share of all cells whose ratio is strictly above `threshold`; `ratio` is Score's eager or
// compile.
[[nodiscard]] double FastP(std::span<const Score> scores, std::optional<double> Score::* ratio,
                           double threshold);

// Per attempt, over the attempts of all runs together.
struct AttemptRates {
  std::size_t attempts = 0;
  double compiled = 0;  // reached a program: neither refused, nor a compiler's or loader's error
  double correct = 0;   // passed
};
[[nodiscard]] AttemptRates RatesOf(std::span<const Score> scores);
[[nodiscard]] bool Compiled(Status status);

// The probability that at least one of k draws out of n, c of them good, is good: the unbiased
// estimator 1 - C(n-c, k) / C(n, k). k > n counts as n.
[[nodiscard]] double PassAtK(std::size_t n, std::size_t c, std::size_t k);
// Mean over tasks; the draws are a task's repeats. None unless every task has k of them.
[[nodiscard]] std::optional<double> PassOverRepeats(std::span<const Score> scores, std::size_t k);
// Mean over runs; the draws are a run's attempts. They are independent in `sampling` only.
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
  Means eager_fallback;       // over all, failures as 1
  Means compile;              // over solved cells where it was measured
  Means paper;                // likewise, by the paper's protocol
  double paper_fast_one = 0;  // fast_1 by it
  AttemptRates attempts;
  // Of all attempts.
  std::int64_t tokens = 0;
  double usd = 0;
  double seconds = 0;
};
[[nodiscard]] Summary Summarise(std::span<const Score> scores);
// By Score::category, in its order.
[[nodiscard]] std::map<std::string, Summary> SummariseCategories(std::span<const Score> scores);
[[nodiscard]] std::vector<Score> SoundAlone(std::span<const Score> scores);

enum class GridOf { kAttempts, kTokens };
// Best so far, over all cells, at one point of a grid; a run that has ended keeps what it had.
struct GridPoint {
  std::int64_t at = 0;
  double solved = 0;            // share of the cells
  double geomean_fallback = 1;  // unsolved as 1
};
// 1, 2, ... (attempts), or equal steps (tokens), up to the largest run's.
[[nodiscard]] std::vector<std::int64_t> GridFor(std::span<const Score> scores, GridOf axis);
[[nodiscard]] std::vector<GridPoint> BestSoFar(std::span<const Score> scores, GridOf axis,
                                               std::span<const std::int64_t> grid);

// Two arms on the tasks they share. Each task gives one value: the difference of the arms' mean
// logarithms of the speed-up over its repeats.
struct PairedComparison {
  std::size_t tasks = 0;
  std::size_t solved_by_both = 0;
  std::size_t first_ahead = 0;  // by more than kMinimumEffect, failures as 1
  std::size_t second_ahead = 0;
  // Speed of the first over the second, geometric mean over tasks with a 95 % t interval. One task
  // alone has no interval: low = 0, high = infinity.
  std::optional<Interval> fallback;  // over all shared tasks, failures as 1
  std::optional<Interval> solved;    // over tasks that both solved, of their solved repeats
};
[[nodiscard]] PairedComparison ComparePaired(std::span<const Score> first,
                                             std::span<const Score> second);

}  // namespace pragma
