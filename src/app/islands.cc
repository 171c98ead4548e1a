#include "app/islands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/agents.h"
#include "app/context.h"
#include "app/new_run.h"
#include "app/search_choice.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/file.h"
#include "base/log.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/islands.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/task.h"
#include "core/trial.h"
#include "expert/expert.h"
#include "export/mixed.h"
#include "search/session.h"
#include "search/settings.h"
#include "task/island_cut.h"
#include "verify/options.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastShare = 0.01;     // of the operators' time, for an island to be tried
constexpr double kShareOfBudget = 0.75;  // of the seconds, for the islands; the rest for the whole
constexpr std::size_t kMostSeeds = 5;    // candidates that are judged on the whole

class IslandSearch final {
 public:
  IslandSearch(const AppContext& context, Workbench& bench, TaskBench& task,
               const IslandsWish& wish, const IslandsObserver& observer)
      : context_(context), bench_(bench), task_(task), wish_(wish), observer_(observer) {}

  Result<IslandsOutcome> Run();

 private:
  Result<void> Find();
  Result<void> Optimize(const IslandTask& cut, std::size_t number);
  Result<fs::path> TaskFile(const IslandTask& cut, const IslandWork& work) const;
  [[nodiscard]] SearchPlan PlanFor(const IslandWork& work, const TaskBench& opened) const;
  void Note(IslandWork& work, const IslandTask& cut, const TaskBench& opened,
            const SearchOutcome& outcome) const;
  [[nodiscard]] std::vector<std::size_t> ByGain() const;
  Result<void> AddSeeds();
  Result<std::optional<Candidate>> Mixed(const std::vector<std::size_t>& members);
  void Refuse();

  const AppContext& context_;
  Workbench& bench_;
  TaskBench& task_;
  const IslandsWish& wish_;
  const IslandsObserver& observer_;
  IslandsOutcome outcome_;
};

Result<IslandsOutcome> IslandSearch::Run() {
  TRY(Find());
  if (outcome_.islands.empty()) {
    Refuse();
    return std::move(outcome_);
  }
  std::vector<Island> islands;
  for (const IslandWork& work : outcome_.islands) islands.push_back(work.island);
  const std::vector<IslandTask> cut = TRY(CutIslands(task_.server(), islands));
  for (std::size_t i = 0; i < islands.size(); ++i) TRY(Optimize(cut[i], i));
  TRY(AddSeeds());
  if (outcome_.seeds.empty()) Refuse();
  return std::move(outcome_);
}

// Finds the islands and how much of the time each takes.
Result<void> IslandSearch::Find() {
  Partition partition = FindIslands(task_.task(), expert::ExpertKnows);
  outcome_.left = std::move(partition.left);
  if (partition.islands.empty()) return {};
  const std::map<std::string, double> seconds = TRY(OperatorSeconds(task_.server()));
  const auto time_of = [&](double sum, const std::string& node) {
    const auto found = seconds.find(node);
    return sum + (found == seconds.end() ? 0 : found->second);
  };
  double all = 0;
  for (const auto& [node, time] : seconds) all += time;
  for (Island& island : partition.islands) {
    IslandWork& work = outcome_.islands.emplace_back();
    const double time = std::accumulate(island.nodes.begin(), island.nodes.end(), 0.0, time_of);
    work.share = all > 0 ? time / all : 0;
    work.name = fmt::format("{}_island_{}", task_.task().name, outcome_.islands.size());
    work.island = std::move(island);
  }
  return {};
}

// Writes the island's task where its runs and evidence can find it later.
Result<fs::path> IslandSearch::TaskFile(const IslandTask& cut, const IslandWork& work) const {
  const fs::path folder = bench_.home() / "islands" / task_.task().sha256.substr(0, 12);
  TRY(MakeDirectories(folder));
  const fs::path file = folder / (work.name + ".py");
  TRY(WriteFileAtomic(file, cut.source));
  return file;
}

SearchPlan IslandSearch::PlanFor(const IslandWork& work, const TaskBench& opened) const {
  SearchPlan plan{.settings = NewRunSettings(wish_.choice, wish_.judging, bench_, opened),
                  .budget = wish_.choice.budget,
                  .compile_baseline = false,
                  .retune = wish_.choice.tune.again,
                  .call = false};
  double tried = 0;
  for (const IslandWork& other : outcome_.islands)
    if (other.share >= kLeastShare) tried += other.share;
  if (plan.budget.seconds > 0) plan.budget.seconds *= kShareOfBudget * work.share / tried;
  return plan;
}

Result<void> IslandSearch::Optimize(const IslandTask& cut, std::size_t number) {
  IslandWork& work = outcome_.islands[number];
  if (observer_.on_island) observer_.on_island(work, number, outcome_.islands.size());
  if (work.share < kLeastShare) {
    work.outcome = "takes too little time";
    return {};
  }
  const fs::path file = TRY(TaskFile(cut, work));
  Result<std::unique_ptr<TaskBench>> opened =
      TaskBench::Open(bench_, file, {.judging = wish_.judging}, Measure::kEager);
  if (!opened && opened.error().kind == ErrorKind::kTask) {
    work.outcome = opened.error().message;
    return {};
  }
  if (!opened) return std::unexpected(opened.error());
  if (wish_.lint) TRY((*opened)->EnsureLint({}));
  SearchPlan plan = PlanFor(work, **opened);
  plan.run = TRY(StartRun(bench_.store(), (*opened)->task(), file, plan.settings));
  work.run = plan.run.id;
  const SearchOutcome outcome = TRY(RunSearch(context_, bench_, **opened, plan, observer_.search));
  if (outcome.session.stopped == StopReason::kInterrupted)
    return Fail(ErrorKind::kInterrupted, "interrupted while optimising " + work.name);
  Note(work, cut, **opened, outcome);
  return {};
}

void IslandSearch::Note(IslandWork& work, const IslandTask& cut, const TaskBench& opened,
                        const SearchOutcome& outcome) const {
  const Trial* best = outcome.session.tree.best();
  const Evaluation* judged = ReportedBest(outcome);
  if (best == nullptr || judged == nullptr || !judged->passed()) {
    const Trial* last = outcome.session.tree.last();
    work.outcome = last == nullptr ? "no attempt" : last->evaluation.reason;
    return;
  }
  work.speedup = judged->speedup_eager;
  work.kernel = IslandKernel{.island = cut,
                             .task = opened.task(),
                             .kernel_header = opened.header(),
                             .candidate = *best->candidate};
  if (work.speedup && work.speedup->median <= 1) work.outcome = "no faster than eager";
}

// Returns the islands whose kernel is faster, those that save most of the whole's time first.
std::vector<std::size_t> IslandSearch::ByGain() const {
  std::vector<std::pair<double, std::size_t>> gains;
  for (std::size_t i = 0; i < outcome_.islands.size(); ++i) {
    const IslandWork& work = outcome_.islands[i];
    if (!work.kernel || !work.outcome.empty() || !work.speedup) continue;
    gains.emplace_back(work.share * (1 - 1 / work.speedup->median), i);
  }
  std::ranges::sort(gains, std::greater{});
  std::vector<std::size_t> islands;
  for (const auto& [gain, island] : gains) islands.push_back(island);
  return islands;
}

// A candidate replaces the best only if it is clearly faster. Where each has more islands than the
// one before, an island that does not help the whole is therefore not kept.
Result<void> IslandSearch::AddSeeds() {
  const std::vector<std::size_t> islands = ByGain();
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size < islands.size() && sizes.size() + 1 < kMostSeeds;
       size += std::max<std::size_t>(1, islands.size() / kMostSeeds))
    sizes.push_back(size);
  if (!islands.empty()) sizes.push_back(islands.size());
  for (const std::size_t size : sizes) {
    std::vector<std::size_t> members(islands.begin(),
                                     islands.begin() + static_cast<std::ptrdiff_t>(size));
    std::ranges::sort(members);
    std::optional<Candidate> candidate = TRY(Mixed(members));
    if (!candidate) return {};
    outcome_.seeds.push_back(
        {std::move(*candidate), fmt::format("{} island{}", size, size == 1 ? "" : "s")});
    outcome_.members.push_back(std::move(members));
  }
  return {};
}

Result<std::optional<Candidate>> IslandSearch::Mixed(const std::vector<std::size_t>& members) {
  std::vector<Island> islands;
  MixedRequest request{.task = &task_.task(),
                       .python = context_.paths.python,
                       .package_root = context_.paths.package_root()};
  for (const std::size_t member : members) {
    islands.push_back(outcome_.islands[member].island);
    request.kernels.push_back(&*outcome_.islands[member].kernel);
  }
  const IslandOrder order = TRY(ArrangeIslands(task_.server(), islands));
  request.order = &order;
  WrittenSolution written = TRY(WriteMixed(request, bench_.builder()));
  if (!written.refusal.empty()) {
    outcome_.refusal = written.refusal;
    return std::nullopt;
  }
  return PythonCandidate(std::move(written.text));
}

void IslandSearch::Refuse() {
  if (!outcome_.refusal.empty()) return;
  outcome_.refusal =
      outcome_.islands.empty()
          ? fmt::format("the expert has no kernel for any part of it; Torch keeps {}",
                        fmt::join(outcome_.left, ", "))
          : "no kernel of a part is faster than Torch's operators";
}

}  // namespace

bool NeedsIslands(const SearchChoice& choice, const JudgingOptions& judging, const Task& task) {
  return IsExpert(choice.coder_model) && RunsOnProcessor(judging.language) && task.dims.empty() &&
         !task.graph.empty() && !expert::ExpertKnows(task);
}

Result<IslandsOutcome> OptimizeIslands(const AppContext& context, Workbench& bench, TaskBench& task,
                                       const IslandsWish& wish, const IslandsObserver& observer) {
  return IslandSearch(context, bench, task, wish, observer).Run();
}

void SearchSeedsOnly(const IslandsOutcome& outcome, SearchPlan& plan) {
  plan.settings.seeds = outcome.seeds;
  plan.settings.preset.profile = false;  // a Python candidate has no profile
  plan.settings.preset.stall_attempts = 0;
  plan.settings.tune_seconds = 0;
  plan.budget.attempts = static_cast<int>(outcome.seeds.size());
  plan.settings.budget.attempts = plan.budget.attempts;
}

}  // namespace pragma
