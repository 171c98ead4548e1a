#include "bench/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/row.h"
#include "core/statistics.h"
#include "core/status.h"
#include "verify/paper_timing.h"

namespace pragma {
namespace {

double Share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double MeanOf(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> RatiosOf(std::span<const Score> scores, std::optional<double> Score::* ratio) {
  std::vector<double> ratios;
  for (const Score& score : scores) {
    if (score.solved && score.*ratio) ratios.push_back(*(score.*ratio));
  }
  return ratios;
}

std::vector<double> WithFallback(std::span<const Score> scores) {
  std::vector<double> ratios;
  for (const Score& score : scores)
    ratios.push_back(score.solved && score.eager ? *score.eager : 1.0);
  return ratios;
}

std::array<double, kFastThresholds.size()> FastPs(std::span<const Score> scores,
                                                  std::optional<double> Score::* ratio) {
  std::array<double, kFastThresholds.size()> shares{};
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares.at(i) = FastP(scores, ratio, kFastThresholds.at(i));
  return shares;
}

std::size_t Correct(const std::vector<CurvePoint>& curve) {
  return static_cast<std::size_t>(std::ranges::count(curve, Status::kPassed, &CurvePoint::status));
}

std::int64_t Position(const CurvePoint& point, GridOf axis) {
  return axis == GridOf::kAttempts ? point.attempt : point.tokens;
}

// Returns the best result of a run at a point of the grid.
std::optional<double> BestAt(const Score& score, GridOf axis, std::int64_t at) {
  std::optional<double> best;
  for (const CurvePoint& point : score.curve) {
    if (Position(point, axis) <= at) best = point.best;
  }
  return best;
}

constexpr std::int64_t kTokenSteps = 20;

}  // namespace

Score ScoreOf(const BenchRow& row) {
  Score score{.task = row.cell.task.group + "/" + row.cell.task.name,
              .category = row.category.empty() ? "unknown" : row.category,
              .sound = row.lint == "sound",
              .task_error = !row.problem.empty(),
              .solved = row.solved(),
              .eager = {},
              .compile = {},
              .call = {},
              .paper = {},
              .curve = row.curve};
  if (!score.solved) return score;
  if (row.best->speedup_eager) score.eager = row.best->speedup_eager->median;
  if (row.best->speedup_compile) score.compile = row.best->speedup_compile->median;
  if (row.best->call) score.call = row.best->call->kept.speedup.median;
  if (row.paper) score.paper = SpeedupByPaper(row.paper->eager, row.paper->candidate);
  return score;
}

Means MeansOf(std::span<const double> ratios) {
  if (ratios.empty()) return {};
  std::vector<double> logs;
  for (const double ratio : ratios) logs.push_back(std::log(ratio));
  return {.count = ratios.size(),
          .mean = MeanOf(ratios),
          .geomean = std::exp(MeanOf(logs)),
          .median = Median(ratios)};
}

double FastP(std::span<const Score> scores, std::optional<double> Score::* ratio,
             double threshold) {
  const auto fast = std::ranges::count_if(scores, [&](const Score& score) {
    return score.solved && score.*ratio && *(score.*ratio) > threshold;
  });
  return Share(static_cast<std::size_t>(fast), scores.size());
}

bool Compiled(Status status) {
  switch (status) {
    case Status::kUnsupported:
    case Status::kRejectedSource:
    case Status::kCompileError:
    case Status::kLoadError:
    case Status::kTaskError: return false;
    default: return true;
  }
}

AttemptRates RatesOf(std::span<const Score> scores) {
  std::size_t attempts = 0;
  std::size_t compiled = 0;
  std::size_t correct = 0;
  for (const Score& score : scores) {
    attempts += score.curve.size();
    correct += Correct(score.curve);
    compiled +=
        static_cast<std::size_t>(std::ranges::count_if(score.curve, Compiled, &CurvePoint::status));
  }
  return {.attempts = attempts,
          .compiled = Share(compiled, attempts),
          .correct = Share(correct, attempts)};
}

double PassAtK(std::size_t n, std::size_t c, std::size_t k) {
  const std::size_t draws = std::min(k, n);
  if (c == 0 || draws == 0) return 0;
  if (n - c < draws) return 1;
  double none = 1;
  for (std::size_t i = n - c + 1; i <= n; ++i)
    none *= 1 - static_cast<double>(draws) / static_cast<double>(i);
  return 1 - none;
}

std::optional<double> PassOverRepeats(std::span<const Score> scores, std::size_t k) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> tasks;  // repeats, solved
  for (const Score& score : scores) {
    auto& [repeats, solved] = tasks[score.task];
    ++repeats;
    solved += score.solved ? 1 : 0;
  }
  std::vector<double> each;
  for (const auto& [task, counts] : tasks) {
    if (counts.first < k) return std::nullopt;
    each.push_back(PassAtK(counts.first, counts.second, k));
  }
  if (each.empty()) return std::nullopt;
  return MeanOf(each);
}

double PassOverAttempts(std::span<const Score> scores, std::size_t k) {
  std::vector<double> each;
  for (const Score& score : scores)
    each.push_back(PassAtK(score.curve.size(), Correct(score.curve), k));
  return MeanOf(each);
}

Summary Summarise(std::span<const Score> scores) {
  Summary summary;
  std::set<std::string> tasks;
  for (const Score& score : scores) {
    tasks.insert(score.task);
    summary.solved += score.solved ? 1 : 0;
    summary.task_errors += score.task_error ? 1 : 0;
    if (score.curve.empty()) continue;
    summary.tokens += score.curve.back().tokens;
    summary.usd += score.curve.back().usd;
    summary.seconds += score.curve.back().seconds;
  }
  summary.cells = scores.size();
  summary.tasks = tasks.size();
  summary.success = Share(summary.solved, summary.cells);
  summary.fast_eager = FastPs(scores, &Score::eager);
  const std::vector<double> compile = RatiosOf(scores, &Score::compile);
  if (!compile.empty()) summary.fast_compile = FastPs(scores, &Score::compile);
  summary.eager = MeansOf(RatiosOf(scores, &Score::eager));
  summary.call = MeansOf(RatiosOf(scores, &Score::call));
  summary.eager_fallback = MeansOf(WithFallback(scores));
  summary.compile = MeansOf(compile);
  summary.paper = MeansOf(RatiosOf(scores, &Score::paper));
  summary.paper_fast_one = FastP(scores, &Score::paper, 1);
  summary.attempts = RatesOf(scores);
  return summary;
}

std::map<std::string, Summary> SummariseCategories(std::span<const Score> scores) {
  std::map<std::string, std::vector<Score>> categories;
  for (const Score& score : scores) categories[score.category].push_back(score);
  std::map<std::string, Summary> summaries;
  for (const auto& [category, members] : categories) summaries[category] = Summarise(members);
  return summaries;
}

std::vector<Score> SoundAlone(std::span<const Score> scores) {
  std::vector<Score> sound;
  std::ranges::copy_if(scores, std::back_inserter(sound), &Score::sound);
  return sound;
}

std::vector<std::int64_t> GridFor(std::span<const Score> scores, GridOf axis) {
  std::int64_t last = 0;
  for (const Score& score : scores) {
    if (!score.curve.empty()) last = std::max(last, Position(score.curve.back(), axis));
  }
  std::vector<std::int64_t> grid;
  const std::int64_t steps = axis == GridOf::kAttempts ? last : std::min(kTokenSteps, last);
  for (std::int64_t i = 1; i <= steps; ++i) grid.push_back((last * i + steps - 1) / steps);
  return grid;
}

std::vector<GridPoint> BestSoFar(std::span<const Score> scores, GridOf axis,
                                 std::span<const std::int64_t> grid) {
  std::vector<GridPoint> points;
  for (const std::int64_t at : grid) {
    std::vector<double> logs;
    std::size_t solved = 0;
    for (const Score& score : scores) {
      const std::optional<double> best = BestAt(score, axis, at);
      solved += best ? 1 : 0;
      logs.push_back(best ? std::log(*best) : 0);
    }
    points.push_back({.at = at,
                      .solved = Share(solved, scores.size()),
                      .geomean_fallback = std::exp(MeanOf(logs))});
  }
  return points;
}

}  // namespace pragma
