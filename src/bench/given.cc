#include "bench/given.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/call.h"
#include "app/candidate_file.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/hash.h"
#include "base/result.h"
#include "bench/extras.h"
#include "bench/loop.h"
#include "bench/report.h"
#include "bench/row.h"
#include "bench/solutions.h"
#include "bench/suite.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/stop_reason.h"
#include "core/task.h"
#include "core/trial.h"
#include "report/json_text.h"

namespace pragma {
namespace {

std::tuple<std::string, std::string, int> KeyFor(const std::string& set, const SuiteTask& task,
                                                 int sample) {
  return {set, task.path.string(), sample};
}

BenchCell CellFor(const std::string& set, const SuiteTask& task, int sample) {
  return {.task = task, .strategy = set, .model = {}, .repeat = sample + 1, .arm = set};
}

}  // namespace

std::vector<BenchArm> ArmsOfGiven(const GivenSolutions& given) {
  std::vector<BenchArm> arms;
  for (const std::string& set : given.sets) arms.push_back({.name = set, .strategy = set});
  return arms;
}

std::vector<BenchCell> CellsOfGiven(const GivenSolutions& given,
                                    const std::vector<SuiteTask>& tasks) {
  std::vector<BenchCell> cells;
  for (const SuiteTask& task : tasks) {
    for (const std::string& set : given.sets) {
      const std::size_t before = cells.size();
      for (const GivenSolution& solution : given.found) {
        if (solution.set == set && solution.task.path == task.path)
          cells.push_back(CellFor(set, task, solution.sample));
      }
      if (cells.size() == before) cells.push_back(CellFor(set, task, 0));
    }
  }
  return cells;
}

GivenRunner::GivenRunner(const AppContext& context, const BenchOptions& options,
                         const JudgingOptions& judging, Workbench& bench,
                         const GivenSolutions& given, BenchProgress progress)
    : context_(context),
      options_(options),
      judging_(judging),
      bench_(bench),
      progress_(std::move(progress)),
      opener_(bench, judging, options.most(), static_cast<std::size_t>(options.jobs)) {
  for (const GivenSolution& solution : given.found)
    given_.emplace(KeyFor(solution.set, solution.task, solution.sample), solution);
}

std::string GivenRunner::KeyOf(const Task& task, const Candidate& candidate) const {
  std::string text = task.sha256 + candidate.id() + bench_.machine().fingerprint +
                     std::to_string(bench_.machine().threads);
  for (const auto& [name, value] : RecordOf(judging_)) text += name + "=" + value + ";";
  text += options_.no_compile_baseline ? "" : "compile;";
  text += options_.no_call ? "" : "call;";
  return "bench-given/1/" + Sha256Hex(text);
}

Result<Evaluation> GivenRunner::Judge(TaskBench& task, const Candidate& candidate) const {
  Evaluation evaluation = TRY(task.Evaluate(candidate, nullptr, options_.most(), {}));
  if (!options_.no_call) TRY(AddCall(context_, bench_, task, candidate, evaluation, {}));
  return evaluation;
}

Result<void> GivenRunner::JudgeOrKeep(TaskBench& task, const Candidate& candidate,
                                      BenchRow& row) const {
  const std::string key = KeyOf(task.task(), candidate);
  if (const auto kept = TRY(bench_.store().GetFigure(key))) {
    row.best = TRY(EvaluationFromJson(*kept));
    row.kept = true;
  } else {
    row.best = TRY(Judge(task, candidate));
    TRY(bench_.store().PutFigure(key, EvaluateObject(task.task(), candidate, *row.best)));
  }
  row.attempts = 1;
  CurvePoint point{.attempt = 1, .status = row.best->status};
  if (row.solved() && row.best->speedup_eager) point.best = row.best->speedup_eager->median;
  row.curve = {point};
  return {};
}

// Fills in the row. A task without a candidate is opened as well, for its category, lint and
// baselines.
Result<void> GivenRunner::Fill(const std::optional<Candidate>& candidate, BenchRow& row) {
  auto task = TRY(opener_.Open(row.cell.task.path));
  row.category = task->task().category;
  row.lint = task->task().lint;
  if (candidate) TRY(JudgeOrKeep(*task, *candidate, row));
  if (options_.WantsExtras()) TRY(AddExtrasOf(row, candidate, *task));
  opener_.Keep(row.cell.task.path, std::move(task));
  return {};
}

Result<void> GivenRunner::AddExtrasOf(BenchRow& row, const std::optional<Candidate>& candidate,
                                      TaskBench& task) {
  const ExtrasSubject subject{.task = task.task(),
                              .header = task.header(),
                              .candidate = row.solved() ? &*candidate : nullptr,
                              .open = [&]() -> Result<TaskBench*> { return &task; }};
  return AddExtras(context_, bench_, options_, subject, row);
}

Result<std::optional<BenchRow>> GivenRunner::Run(const BenchCell& cell, Spending /*spending*/) {
  progress_.note(CellName(cell));
  BenchRow row{.cell = cell, .stopped = StopReason::kNoneGiven};
  std::optional<Candidate> candidate;
  const auto given = given_.find(KeyFor(cell.strategy, cell.task, cell.repeat - 1));
  if (given != given_.end()) {
    row.stopped = StopReason::kJudged;
    Result<Candidate> loaded = LoadCandidate(given->second.path);
    if (loaded && !RunsOnProcessor(loaded->language)) {
      loaded = Fail(ErrorKind::kUsage, "benchmarks judge solutions for the CPU only");
    }
    if (loaded) {
      candidate = std::move(*loaded);
    } else {
      row.best = Evaluation{.status = Status::kRejectedSource, .reason = loaded.error().message};
    }
  }
  TRY(Fill(candidate, row));
  return row;
}

}  // namespace pragma
