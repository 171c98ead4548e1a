// ComparePaired: compares two arms of a benchmark, paired by task.
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/metrics.h"
#include "core/statistics.h"
#include "core/timing.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

// The log speedups of one task's repeats.
struct TaskLogs {
  std::vector<double> all;  // failures count as 0
  std::vector<double> solved;
};

std::map<std::string, TaskLogs> LogsByTask(std::span<const Score> scores) {
  std::map<std::string, TaskLogs> tasks;
  for (const Score& score : scores) {
    TaskLogs& logs = tasks[score.task];
    const bool counts = score.solved && score.eager;
    logs.all.push_back(counts ? std::log(*score.eager) : 0);
    if (counts) logs.solved.push_back(logs.all.back());
  }
  return tasks;
}

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<Interval> IntervalOf(const std::vector<double>& logs) {
  if (logs.empty()) return std::nullopt;
  return GeometricInterval(logs);
}

}  // namespace

PairedComparison ComparePaired(std::span<const Score> first, std::span<const Score> second) {
  const std::map<std::string, TaskLogs> ours = LogsByTask(first);
  const std::map<std::string, TaskLogs> theirs = LogsByTask(second);
  PairedComparison comparison;
  std::vector<double> fallback;
  std::vector<double> solved;
  for (const auto& [task, logs] : ours) {
    const auto other = theirs.find(task);
    if (other == theirs.end()) continue;
    fallback.push_back(MeanOf(logs.all) - MeanOf(other->second.all));
    comparison.first_ahead += fallback.back() > std::log1p(kMinimumEffect) ? 1 : 0;
    comparison.second_ahead += -fallback.back() > std::log1p(kMinimumEffect) ? 1 : 0;
    if (!logs.solved.empty() && !other->second.solved.empty())
      solved.push_back(MeanOf(logs.solved) - MeanOf(other->second.solved));
  }
  comparison.tasks = fallback.size();
  comparison.solved_by_both = solved.size();
  comparison.fallback = IntervalOf(fallback);
  comparison.solved = IntervalOf(solved);
  return comparison;
}

}  // namespace pragma
