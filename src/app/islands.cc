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
#include "base/clock.h"
#include "base/deadline.h"
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

constexpr double kLeastShare = 0.01;      // of the operators' time, for an island to be tried
constexpr double kPartForIslands = 0.55;  // of the time that is left; the rest is for the whole
// An island is not tried with less time, because its reference would hardly be ready by then.
constexpr Seconds kLeastForIsland{6};
constexpr std::size_t kMostSeeds = 5;  // candidates that are judged on the whole
// How long the whole is judged with one of them: several processes, each of which imports torch.
constexpr Seconds kUsualSeed{20};

class IslandSearch final {
 public:
  IslandSearch(const AppContext& context, Workbench& bench, TaskBench& task,
               const IslandsWish& wish, const IslandsObserver& observer)
      : context_(context), bench_(bench), task_(task), wish_(wish), observer_(observer) {}

  Result<IslandsOutcome> Run();

 private:
  Result<void> Find();
  Result<void> OptimizeAll(const std::vector<IslandTask>& cut);
  [[nodiscard]] std::vector<std::size_t> ByShare() const;
  Result<void> Optimize(const IslandTask& cut, IslandWork& work, const Deadline& deadline);
  Result<fs::path> TaskFile(const IslandTask& cut, const IslandWork& work) const;
  [[nodiscard]] std::vector<std::size_t> SizesOfSeeds(std::size_t islands) const;
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
  TRY(OptimizeAll(cut));
  if (!wish_.candidates) return std::move(outcome_);
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

// Returns the islands, those first that take most of the time.
std::vector<std::size_t> IslandSearch::ByShare() const {
  std::vector<std::size_t> order(outcome_.islands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [this](std::size_t i) { return outcome_.islands[i].share; });
  return order;
}

// An island gets the part of the time that its share is of those not tried yet, so what one does
// not use is left to the next.
Result<void> IslandSearch::OptimizeAll(const std::vector<IslandTask>& cut) {
  const Deadline all = wish_.deadline.Part(wish_.candidates ? kPartForIslands : 1.0);
  double rest = 0;
  for (const IslandWork& work : outcome_.islands)
    if (work.share >= kLeastShare) rest += work.share;
  std::size_t number = 0;
  for (const std::size_t i : ByShare()) {
    IslandWork& work = outcome_.islands[i];
    if (observer_.on_island) observer_.on_island(work, number++, outcome_.islands.size());
    if (work.share < kLeastShare) {
      work.outcome = "takes too little time";
    } else if (all.Left() < kLeastForIsland) {
      work.outcome = "no time to try it";
    } else {
      TRY(Optimize(cut[i], work,
                   all.Part(std::min(1.0, work.share / rest)).AtLeast(kLeastForIsland)));
      rest -= work.share;
    }
  }
  return {};
}

Result<void> IslandSearch::Optimize(const IslandTask& cut, IslandWork& work,
                                    const Deadline& deadline) {
  const fs::path file = TRY(TaskFile(cut, work));
  const Result<std::unique_ptr<TaskBench>> opened = OpenPart(bench_, file, wish_.part, deadline);
  if (!opened && opened.error().kind == ErrorKind::kTask) {
    work.outcome = opened.error().message;
    return {};
  }
  if (!opened) return std::unexpected(opened.error());
  PartFound found =
      TRY(SearchPart(context_, bench_, **opened, file, wish_.part, deadline, observer_.search));
  work.run = std::move(found.run);
  work.bundle = std::move(found.bundle);
  work.outcome = std::move(found.outcome);
  work.speedup = found.speedup;
  if (found.candidate) {
    work.kernel = IslandKernel{.island = cut,
                               .task = (*opened)->task(),
                               .kernel_header = (*opened)->header(),
                               .candidate = *std::move(found.candidate)};
  }
  return {};
}

// Returns how many islands each candidate for the whole has. There are as many candidates as there
// is time to judge, and the last has all islands.
std::vector<std::size_t> IslandSearch::SizesOfSeeds(std::size_t islands) const {
  if (islands == 0) return {};
  const double affordable =
      std::min(static_cast<double>(kMostSeeds), wish_.deadline.Left() / kUsualSeed);
  const auto most = static_cast<std::size_t>(std::max(1.0, affordable));
  std::vector<std::size_t> sizes;
  const std::size_t step = std::max<std::size_t>(1, islands / most);
  for (std::size_t size = 1; size < islands && sizes.size() + 1 < most; size += step)
    sizes.push_back(size);
  sizes.push_back(islands);
  return sizes;
}

// A candidate replaces the best only if it is clearly faster. Where each has more islands than the
// one before, an island that does not help the whole is therefore not kept.
Result<void> IslandSearch::AddSeeds() {
  const std::vector<std::size_t> islands = IslandsByGain(outcome_.islands);
  const std::vector<std::size_t> sizes = SizesOfSeeds(islands.size());
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

std::vector<std::size_t> IslandsByGain(const std::vector<IslandWork>& islands) {
  std::vector<std::pair<double, std::size_t>> gains;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    const IslandWork& work = islands[i];
    if (!work.kernel || !work.outcome.empty() || !work.speedup) continue;
    gains.emplace_back(work.share * (1 - 1 / work.speedup->median), i);
  }
  std::ranges::sort(gains, std::greater{});
  std::vector<std::size_t> order;
  for (const auto& [gain, island] : gains) order.push_back(island);
  return order;
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
