#include "cli/seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/json.h"
#include "core/search_tree.h"
#include "core/task.h"
#include "core/trial.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

constexpr int kRunsLookedAt = 300;  // the newest
constexpr double kSimilar = 0.5;    // share of operators in common, from which tasks are one family

std::set<std::string> Operators(const Task& task) {
  std::set<std::string> operators;
  for (const GraphNode& node : task.graph) {
    if (node.op != "placeholder" && node.op != "output") operators.insert(node.op);
  }
  return operators;
}

// Of the operators of both tasks, those in common; 0 between categories.
double Similarity(const Task& a, const Task& b) {
  if (a.category != b.category) return 0;
  const std::set<std::string> first = Operators(a);
  const std::set<std::string> second = Operators(b);
  const auto common = static_cast<double>(
      std::ranges::count_if(first, [&](const auto& op) { return second.contains(op); }));
  const double all = static_cast<double>(first.size() + second.size()) - common;
  return all > 0 ? common / all : 0;
}

struct Earlier {
  std::string run;
  std::string task;
  double similarity = 0;  // 1: the same task
  Trial best;
};

double SpeedupOf(const Trial& trial) {
  return trial.evaluation.speedup_eager ? trial.evaluation.speedup_eager->median : 0;
}

Result<std::optional<Trial>> BestOf(const Store& store, const std::string& run) {
  SearchTree tree;
  for (Trial& trial : TRY(store.Trials(run))) tree.Insert(std::move(trial));
  if (tree.best() == nullptr) return std::nullopt;
  return *tree.best();
}

// More similar, then faster, is better.
bool Better(const Earlier& a, const std::optional<Earlier>& b) {
  if (!b) return true;
  if (a.similarity != b->similarity) return a.similarity > b->similarity;
  return SpeedupOf(a.best) > SpeedupOf(b->best);
}

Result<std::optional<Earlier>> FindEarlier(const Store& store, const Task& task) {
  std::optional<Earlier> found;
  for (const RunRecord& run : TRY(store.ListRuns(kRunsLookedAt))) {
    const Result<RunRecord> record = store.FindRun(run.id);
    const Result<Task> other = record ? TaskFromJson(record->task_json) : Task{};
    if (!other || run.state != "finished") continue;
    const bool same = other->sha256 == task.sha256;
    Earlier earlier{.run = run.id, .task = run.task_name, .best = {}};
    earlier.similarity = same ? 1 : 0.99 * Similarity(task, *other);
    if (earlier.similarity < kSimilar) continue;
    if (found && earlier.similarity < found->similarity) continue;
    std::optional<Trial> best = TRY(BestOf(store, run.id));
    if (!best || !best->candidate || best->candidate->language != Language::kCpp) continue;
    earlier.best = std::move(*best);
    if (Better(earlier, found)) found = std::move(earlier);
  }
  return found;
}

}  // namespace

Result<void> AddEarlierKernels(const Store& store, const Task& task, RunSettings& settings) {
  if (std::ranges::find(settings.preset.seeds, "earlier") == settings.preset.seeds.end()) return {};
  const std::optional<Earlier> earlier = TRY(FindEarlier(store, task));
  if (!earlier) return {};
  if (earlier->similarity == 1) {
    settings.seeds.push_back({*earlier->best.candidate, "run " + earlier->run});
    return {};
  }
  settings.example.title =
      fmt::format("{}: {:.2f} times as fast as PyTorch", earlier->task, SpeedupOf(earlier->best));
  settings.example.code = earlier->best.candidate->source();
  return {};
}

}  // namespace pragma
