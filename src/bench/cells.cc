#include "bench/cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/evidence_keeping.h"
#include "app/new_run.h"
#include "app/recorded_run.h"
#include "app/search_choice.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "bench/extras.h"
#include "bench/loop.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/row.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/task.h"
#include "core/trial.h"
#include "report/search_progress.h"
#include "search/session.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

template <class T>
T Lower(T limit, T share) {  // 0 means unlimited
  return limit > 0 && share > 0 ? std::min(limit, share) : std::max(limit, share);
}

Budget Within(Budget budget, const TotalBudget& share) {
  budget.seconds = Lower(budget.seconds, share.seconds);
  budget.tokens = Lower(budget.tokens, share.tokens);
  budget.usd = Lower(budget.usd, share.usd);
  return budget;
}

bool Used(const BenchRow& row, const Budget& budget) {
  const TotalBudget limits{.tokens = budget.tokens, .usd = budget.usd, .seconds = budget.seconds};
  return static_cast<int>(row.attempts) >= budget.attempts || limits.SpentBy(row.spent);
}

// Tells whether a run is over. A run that ended on a budget smaller than today's is not.
bool EndedForGood(const BenchRow& row, const RunRecord& run, const Budget& budget) {
  if (run.state != "finished" || run.stopped == StopReason::kInterrupted ||
      run.stopped == StopReason::kService)
    return false;
  return run.stopped != StopReason::kBudget || Used(row, budget);
}

void AddTree(BenchRow& row, const Task& task, const SearchTree& tree) {
  row.category = task.category;
  row.lint = task.lint;
  row.attempts = tree.size();
  row.signature = tree.Signature();
  row.curve = CurveOf(tree);
}

}  // namespace

CellRunner::Place CellRunner::PlaceOfRuns() const {
  const std::string& other = options_.recorded_on;
  if (other.empty())
    return {bench_.machine().fingerprint, std::to_string(bench_.machine().threads)};
  const std::size_t slash = other.find('/');
  return {other.substr(0, slash), slash == std::string::npos ? "" : other.substr(slash + 1)};
}

Result<void> CellRunner::CheckRecordedOn() const {
  if (options_.recorded_on.empty()) return {};
  std::vector<std::string> known = TRY(bench_.store().FigureKeys(std::string(kMachineFigures)));
  for (std::string& key : known) key.erase(0, kMachineFigures.size());
  if (std::ranges::find(known, options_.recorded_on) != known.end()) return {};
  return FailUsage(fmt::format(
      "--recorded-on '{}': nothing was recorded there; this --home has {}", options_.recorded_on,
      known.empty() ? "no machine" : fmt::format("{}", fmt::join(known, ", "))));
}

// Two cells are the same if everything that shapes their runs is the same. The cell's share of a
// total budget does not count, so a run continues if the total budget was raised.
Result<std::string> CellRunner::KeyOf(const BenchCell& cell, const SearchChoice& choice) const {
  const Result<std::string> source = ReadFile(cell.task.path);
  if (!source) return Fail(ErrorKind::kTask, source.error().message);
  RunSettings settings = SettingsOf(choice, judging_);
  const Place place = PlaceOfRuns();
  settings.machine = place.fingerprint;
  settings.options["threads"] = place.threads;
  settings.options["task"] = cell.task.group + "/" + cell.task.name;
  if (cell.repeat > 1) settings.options["repeat"] = std::to_string(cell.repeat);
  return "bench/" + Sha256Hex(Sha256Hex(*source) + ToJson(settings));
}

Result<CellRunner::Plan> CellRunner::PlanFor(const BenchCell& cell) const {
  Plan plan{.choice = TRY(ChooseFor(options_, context_, {cell.arm, cell.strategy, cell.model})),
            .key = {}};
  plan.key = TRY(KeyOf(cell, plan.choice));
  plan.choice.budget = Within(plan.choice.budget, share_);
  return plan;
}

Result<std::optional<RunRecord>> CellRunner::KnownRun(const std::string& key) {
  const std::optional<std::string> id = TRY(bench_.store().GetFigure(key));
  if (!id) return std::nullopt;
  const auto name = nlohmann::json::parse(*id, nullptr, /*allow_exceptions=*/false);
  if (!name.is_string()) return std::nullopt;
  return TRY(bench_.store().FindRun(name.get<std::string>()));
}

Result<BenchRow> CellRunner::Kept(const BenchCell& cell, const RunRecord& run) {
  BenchRow row{.cell = cell, .run = run.id, .stopped = run.stopped, .kept = true};
  const RecordedRun recorded = TRY(LoadRecordedRun(bench_.store(), run.id));
  const Task task = TRY(TaskFromJson(run.task_json));
  AddTree(row, task, recorded.tree);
  for (const Trial& trial : recorded.tree.trials()) row.spent += trial.spent;
  const Trial* best = recorded.tree.best();
  row.bundle = TRY(BestBundle(bench_.store(), run.id, best == nullptr ? 0 : best->node));
  if (!run.final_json.empty()) row.best = TRY(EvaluationFromJson(run.final_json));
  return row;
}

Result<SearchPlan> CellRunner::Begin(const BenchCell& cell, const Plan& plan,
                                     const std::optional<RunRecord>& begun, const TaskBench& task) {
  SearchPlan search{.budget = plan.choice.budget,
                    .compile_baseline = !options_.no_compile_baseline,
                    .retune = plan.choice.tune.again,
                    .call = !options_.no_call};
  if (begun) {
    search.run = *begun;
    search.settings = TRY(RunSettingsFromJson(begun->settings_json));
    if (begun->state != "running") TRY(bench_.store().ReopenRun(begun->id));
    return search;
  }
  search.settings = NewRunSettings(plan.choice, judging_, bench_, task);
  search.run = TRY(StartRun(bench_.store(), task.task(), std::filesystem::absolute(cell.task.path),
                            search.settings));
  TRY(bench_.store().PutFigure(plan.key, nlohmann::json(search.run.id).dump()));
  return search;
}

Result<BenchRow> CellRunner::Search(const BenchCell& cell, const Plan& plan,
                                    const std::optional<RunRecord>& begun) {
  auto task = TRY(opener_.Open(cell.task.path));
  const SearchPlan search = TRY(Begin(cell, plan, begun, *task));
  SearchProgress progress(progress_.terminal, search.budget.attempts,
                          options_.jobs > 1 ? CellName(cell) : "");
  const SearchOutcome outcome =
      TRY(RunSearch(context_, bench_, *task, search, ObserverOf(progress)));
  progress.Stop();
  if (outcome.session.stopped == StopReason::kService)  // no result: it is tried again
    return std::unexpected(*outcome.session.failure);
  BenchRow row{.cell = cell, .run = search.run.id};
  AddTree(row, task->task(), outcome.session.tree);
  if (const Evaluation* best = ReportedBest(outcome)) row.best = *best;
  row.stopped = outcome.session.stopped;
  row.spent = outcome.session.spent;
  row.bundle = outcome.bundle;
  TRY(AddExtrasOf(row, task.get()));
  opener_.Keep(cell.task.path, std::move(task));
  return row;
}

Result<std::optional<BenchRow>> CellRunner::Run(const BenchCell& cell, Spending spending) {
  const Plan plan = TRY(PlanFor(cell));
  const std::optional<RunRecord> known = TRY(KnownRun(plan.key));
  const bool recorded = !options_.recorded_on.empty();
  if (known && known->state == "finished") {
    BenchRow row = TRY(Kept(cell, *known));
    if (recorded) return row;
    const bool ended = EndedForGood(row, *known, plan.choice.budget);
    const bool again = options_.remeasure && ended && row.solved();
    if (spending == Spending::kOver || (ended && !again)) {
      TRY(AddExtrasOf(row, nullptr));
      return row;
    }
  }
  if (spending == Spending::kOver || recorded) return std::nullopt;
  progress_.note(CellName(cell));
  return TRY(Search(cell, plan, known));
}

Result<void> CellRunner::AddExtrasOf(BenchRow& row, TaskBench* task) {
  if (!options_.WantsExtras() || row.stopped == StopReason::kInterrupted) return {};
  const RecordedRun recorded = TRY(LoadRecordedRun(bench_.store(), row.run));
  const Task described = TRY(TaskFromJson(recorded.run.task_json));
  const RunSettings settings = TRY(RunSettingsFromJson(recorded.run.settings_json));
  std::unique_ptr<TaskBench> opened;
  const ExtrasSubject subject{
      .task = described,
      .header = settings.kernel_header,
      .candidate = row.solved() ? &*recorded.tree.best()->candidate : nullptr,
      .open = [&]() -> Result<TaskBench*> {
        if (task == nullptr) opened = TRY(opener_.Open(row.cell.task.path));
        return task == nullptr ? opened.get() : task;
      }};
  return AddExtras(context_, bench_, options_, subject, row);
}

}  // namespace pragma
