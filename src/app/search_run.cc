#include "app/search_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/roles.h"
#include "agent/window.h"
#include "app/agents.h"
#include "app/context.h"
#include "app/evidence_keeping.h"
#include "app/final_best.h"
#include "app/recorded_run.h"
#include "app/sanitize_once.h"
#include "app/task_bench.h"
#include "app/tuning.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/profile.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/task.h"
#include "core/trial.h"
#include "llm/model.h"
#include "machine/machine.h"
#include "profile/compare.h"
#include "report/json_text.h"
#include "search/recording_model.h"
#include "search/replay.h"
#include "search/session.h"
#include "search/settings.h"
#include "search/stopping.h"
#include "search/strategy.h"
#include "store/store.h"
#include "task/torch_server.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

// Sanitizers build the kernel three times and run each on one input set.
constexpr Seconds kLeastForSanitizers{12};

// A model that the user named, and the recorder that wraps it.
struct RecordedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<RecordingModel> recorder;
};

// Returns when the run's time is up, if the command has no deadline of its own.
Result<Deadline> DeadlineOf(const SearchPlan& plan, Store& store, const Clock& clock) {
  if (plan.deadline.given() || plan.budget.seconds <= 0) return plan.deadline;
  const double left = TRY(SecondsLeft(store, plan.run.id, plan.budget));
  return Deadline(clock.Now() + std::chrono::duration_cast<Nanoseconds>(Seconds(left)));
}

Result<RecordedModel> MakeRecorded(const std::string& spec, ModelOptions options, Store& store,
                                   Clock& clock) {
  RecordedModel made;
  made.model = TRY(MakeModel(spec, options, clock));
  made.recorder = std::make_unique<RecordingModel>(*made.model, store);
  return made;
}

// The roles, and the models that they use. A preset without conductor or debugger leaves those
// empty.
struct Roles {
  RecordedModel conductor_model;
  RecordedModel coder_model;
  RecordedModel debugger_model;
  Agents agents;

  [[nodiscard]] CallCounts counts() const {
    CallCounts counts;
    for (const RecordedModel* made : {&conductor_model, &coder_model, &debugger_model}) {
      if (!made->recorder) continue;
      counts.asked += static_cast<std::size_t>(made->recorder->asked());
      counts.reused += static_cast<std::size_t>(made->recorder->reused());
    }
    return counts;
  }
};

Result<Roles> MakeRoles(const SearchPlan& plan, const AppContext& context, Workbench& bench,
                        Clock& clock) {
  const RunSettings& settings = plan.settings;
  Roles roles;
  AgentModels models;
  const auto make = [&](const std::string& spec, RecordedModel& made,
                        Model*& model) -> Result<void> {
    if (spec.empty() || IsExpert(spec)) return {};
    ModelOptions options = context.settings.ModelOptionsOf(spec);
    options.deadline = plan.deadline.end();
    made = TRY(MakeRecorded(spec, std::move(options), bench.store(), clock));
    model = made.recorder.get();
    return {};
  };
  TRY(make(settings.conductor_model, roles.conductor_model, models.conductor));
  TRY(make(settings.coder_model, roles.coder_model, models.coder));
  TRY(make(settings.debugger_model, roles.debugger_model, models.debugger));
  roles.agents = TRY(RunAgents(context.paths, bench.metrics())(models, settings));
  return roles;
}

// Tuning leaves half of the time that is left to what follows it.
Seconds TuneLimit(const SearchPlan& plan) {
  return std::min(Seconds{static_cast<double>(plan.settings.tune_seconds)},
                  plan.deadline.Left() / 2);
}

// Evaluates candidates for the search. torch.compile is measured until a first candidate has
// passed.
Evaluate WithVerifier(Workbench& bench, TaskBench& task, const SearchObserver& observer,
                      const SearchPlan& plan) {
  const bool more = ChosenFromSeveral(plan);
  return
      [&bench, &task, &observer, &plan, more](Candidate& candidate, const Trial* best, int node) {
        const TuneChoice tune{.limit = TuneLimit(plan), .again = plan.retune};
        task.set_more_to_come(more);
        task.set_quick(more);  // without more to come, this evaluation is the final one
        const Candidate* present = best == nullptr ? nullptr : &*best->candidate;
        const bool compile = plan.compile_baseline && present == nullptr;
        const auto on_phase = [&observer, node](std::string_view phase) {
          observer.on_phase(node, phase);
        };
        return EvaluateTuned(bench, task, candidate,
                             {.best = present, .measure = MeasureWith(compile), .tune = tune},
                             on_phase);
      };
}

Observe WithProfiler(TaskBench& task, const SearchObserver& observer) {
  return [&task, &observer](const Candidate& candidate, const Evaluation& evaluation,
                            const Trial* best, int node) -> Result<Profile> {
    Profile profile =
        TRY(task.ProfileOf(candidate, evaluation, [&observer, node](std::string_view phase) {
          observer.on_phase(node, phase);
        }));
    if (best != nullptr && best->profile)
      profile.judgement = CompareProfiles(task.metrics(), *best->profile, profile).statement;
    return profile;
  };
}

// Runs sanitizers without reporting progress. The progress line belongs to the model that is asked
// at the same time.
Confirm WithSanitizers(Store& store, TaskBench& task, const SearchPlan& plan) {
  return [&store, &task, &plan](const Candidate& candidate,
                                const Evaluation& evaluation) -> Result<Evaluation> {
    Evaluation amended = evaluation;
    if (plan.deadline.Left() < kLeastForSanitizers) {
      amended.checks.push_back(
          {"address_sanitizer", CheckVerdict::kSkipped, "no time for sanitizers"});
      return amended;
    }
    TRY(SanitizeOnce(store, task, candidate, amended));
    return amended;
  };
}

// Builds a candidate while others are judged. The evaluation finds the result in the builder's
// cache. If the build failed, the evaluation reports why.
Prepare BuildAhead(const Workbench& bench, const TaskBench& task) {
  return [&bench, &task](const Candidate& candidate) {
    if (candidate.language == Language::kTriton) return;  // Triton compiles a kernel where it runs
    const auto lock = MachineLock::Take(MachineLock::Kind::kShared);
    const std::string header = InterfaceText(task.task(), candidate.language);
    if (lock) static_cast<void>(bench.builder().Build(candidate, header));
  };
}

SessionParts Parts(Store& store, const Roles& roles, const TaskBench& task,
                   const RunSettings& settings) {
  SessionParts parts;
  parts.store = &store;
  parts.conductor = roles.agents.conductor.get();
  parts.coder = roles.agents.coder.get();
  parts.debugger = roles.agents.debugger.get();
  parts.seeds = settings.seeds;
  parts.example = &settings.example;
  parts.jobs = settings.jobs;
  parts.task = &task.task();
  parts.kernel_header = &settings.kernel_header;
  parts.advice_from_user = settings.advice_from_user;
  return parts;
}

// Keeps evidence of the best if it was measured again, and returns the name of the best's bundle.
Result<std::string> KeepBestEvidence(Workbench& bench, const TaskBench& task, const RunRecord& run,
                                     const SearchOutcome& outcome) {
  const SearchTree& tree = outcome.session.tree;
  if (tree.best() != nullptr && outcome.final_best && outcome.final_best->passed())
    KeepFinalEvidence(bench, task, run, tree, *outcome.final_best);
  return BestBundle(bench.store(), run.id, tree.best() == nullptr ? 0 : tree.best()->node);
}

}  // namespace

SearchObserver ObserverOf(SearchProgress& progress) {
  return {.on_phase = [&progress](int attempt,
                                  std::string_view phase) { progress.OnPhase(attempt, phase); },
          .on_trial = [&progress](const Trial& trial,
                                  const SearchTree& tree) { progress.OnTrial(trial, tree); }};
}

namespace {

// Returns an observer of which every member may be called. Evidence of each trial is kept.
SearchObserver Complete(const SearchObserver& given, Workbench& bench, const TaskBench& task,
                        const RunRecord& run) {
  return {.on_phase =
              [&given](int attempt, std::string_view phase) {
                if (given.on_phase) given.on_phase(attempt, phase);
              },
          .on_trial =
              [&](const Trial& trial, const SearchTree& tree) {
                if (given.on_trial) given.on_trial(trial, tree);
                KeepTrialEvidence(bench, task, run, tree, trial);
              },
          .on_best =
              [&given](const Trial& trial) {
                if (given.on_best) given.on_best(trial);
              }};
}

Result<void> FinishRun(Workbench& bench, const TaskBench& task, const SearchPlan& plan,
                       SearchOutcome& outcome) {
  outcome.bundle = TRY(KeepBestEvidence(bench, task, plan.run, outcome));
  TRY(AddReusedCalls(bench.store(), plan.run.id, outcome.calls.reused));
  const std::string final_json =
      outcome.final_best ? EvaluateObject(task.task(), *outcome.session.tree.best()->candidate,
                                          *outcome.final_best)
                         : "";
  TRY(bench.store().FinishRun(plan.run.id, outcome.session.stopped, final_json));
  outcome.session.hold.Reset();
  return {};
}

}  // namespace

Result<double> SecondsLeft(const Store& store, const std::string& run, const Budget& budget) {
  double left = budget.seconds;
  for (const Trial& trial : TRY(store.Trials(run))) left -= trial.spent.seconds;
  return left;
}

Result<SearchOutcome> RunSearch(const AppContext& context, Workbench& bench, TaskBench& task,
                                const SearchPlan& given_plan, const SearchObserver& given) {
  SystemClock clock;
  SearchPlan plan = given_plan;
  plan.deadline = TRY(DeadlineOf(plan, bench.store(), clock));
  const SearchObserver observer = Complete(given, bench, task, plan.run);
  const Roles roles = TRY(MakeRoles(plan, context, bench, clock));
  const std::unique_ptr<Strategy> strategy = MakeStrategy(plan.settings.preset, plan.settings.seed);
  const MachineSummary machine{plan.settings.machine};
  SessionParts parts = Parts(bench.store(), roles, task, plan.settings);
  parts.strategy = strategy.get();
  parts.clock = &clock;
  parts.deadline = plan.deadline.Before(TimeForCall(plan));
  parts.machine = &machine;
  parts.evaluate = WithVerifier(bench, task, observer, plan);
  parts.observe = WithProfiler(task, observer);
  parts.confirm = WithSanitizers(bench.store(), task, plan);
  if (plan.settings.jobs > 1) parts.prepare = BuildAhead(bench, task);
  parts.observer = {
      .on_phase = observer.on_phase, .on_trial = observer.on_trial, .on_best = observer.on_best};

  SearchOutcome outcome;
  outcome.session = TRY(RunSession(plan.run.id, parts, plan.settings.preset, plan.budget));
  const SessionResult& session = outcome.session;
  if (session.stopped == StopReason::kService && session.tree.best() == nullptr)
    return std::unexpected(*session.failure);
  if (TimeIsUp() && session.tree.next_node() <= plan.budget.attempts)
    outcome.left_out.push_back(fmt::format("attempt {}", session.tree.next_node()));
  FinalBest found = TRY(MeasureBest({context, bench, task}, session, plan, observer));
  outcome.final_best = std::move(found.evaluation);
  std::ranges::move(found.left_out, std::back_inserter(outcome.left_out));
  if (found.interrupted) outcome.session.stopped = StopReason::kInterrupted;
  outcome.calls = roles.counts();
  TRY(FinishRun(bench, task, plan, outcome));
  return outcome;
}

bool ChosenFromSeveral(const SearchPlan& plan) {
  return plan.budget.attempts != 1 || plan.settings.tune_seconds > 0;
}

const Evaluation* ReportedBest(const SearchOutcome& outcome) {
  if (outcome.final_best) return &*outcome.final_best;
  const Trial* best = outcome.session.tree.best();
  return best == nullptr ? nullptr : &best->evaluation;
}

}  // namespace pragma
