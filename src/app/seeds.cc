#include "app/seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/candidate.h"
#include "core/json.h"
#include "core/task.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

constexpr int kRunsLookedAt = 300;  // only the newest runs
constexpr double kSimilar = 0.5;    // share of common operators from which tasks are one family

std::set<std::string> Operators(const Task& task) {
  std::set<std::string> operators;
  for (const GraphNode& node : task.graph) {
    if (node.op != "placeholder" && node.op != "output") operators.insert(node.op);
  }
  return operators;
}

// Returns the share of operators that both tasks have in common. It is 0 for different categories.
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
  double speedup = 0;
  Candidate candidate;
};

// Likeness tells how similar the tasks of runs are to this task. Many runs share a task, and each
// task is read only once.
class Likeness final {
 public:
  explicit Likeness(const Task& task) : task_(task) {}

  // Returns 1 for the same task, and 0 if there is nothing in common or the task cannot be read.
  double Of(const std::string& task_json) {
    const auto [at, fresh] = known_.try_emplace(task_json, 0);
    if (!fresh) return at->second;
    const Result<Task> other = TaskFromJson(task_json);
    if (other) at->second = other->sha256 == task_.sha256 ? 1 : 0.99 * Similarity(task_, *other);
    return at->second;
  }

 private:
  const Task& task_;
  std::unordered_map<std::string, double> known_;
};

// Tells whether `a` is better than `b`. Similarity comes first, then speed-up.
bool Better(const Earlier& a, const std::optional<Earlier>& b) {
  return !b || std::pair(a.similarity, a.speedup) > std::pair(b->similarity, b->speedup);
}

Result<std::optional<Earlier>> FindEarlier(const Store& store, const Task& task,
                                           Language language) {
  std::optional<Earlier> found;
  Likeness likeness(task);
  for (const RunRecord& run : TRY(store.ListRuns(kRunsLookedAt))) {
    if (run.state != "finished") continue;
    Earlier earlier{.run = run.id, .task = run.task_name, .similarity = likeness.Of(run.task_json)};
    if (earlier.similarity < kSimilar || (found && earlier.similarity < found->similarity))
      continue;
    const std::vector<TrialSummary> trials = TRY(store.Summaries(run.id));
    const TrialSummary* best = BestOf(trials);
    if (best == nullptr) continue;
    earlier.speedup = best->speedup_eager ? best->speedup_eager->median : 0;
    if (!Better(earlier, found)) continue;
    std::optional<Candidate> candidate = TRY(store.FindTrial(run.id, best->node)).candidate;
    if (!candidate || candidate->language != language) continue;
    earlier.candidate = std::move(*candidate);
    found = std::move(earlier);
  }
  return found;
}

}  // namespace

Result<void> AddEarlierKernels(const Store& store, const Task& task, RunSettings& settings) {
  if (std::ranges::find(settings.preset.seeds, "earlier") == settings.preset.seeds.end()) return {};
  const std::optional<Earlier> earlier = TRY(FindEarlier(store, task, settings.language));
  if (!earlier) return {};
  if (earlier->similarity == 1) {
    settings.seeds.push_back({earlier->candidate, "run " + earlier->run});
    return {};
  }
  settings.example.title =
      fmt::format("{}: {:.2f} times as fast as PyTorch", earlier->task, earlier->speedup);
  settings.example.code = earlier->candidate.source();
  return {};
}

}  // namespace pragma
