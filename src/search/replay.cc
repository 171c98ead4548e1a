#include "search/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/window.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/profile.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "llm/completion.h"
#include "search/recording.h"
#include "search/recording_model.h"
#include "search/replay_model.h"
#include "search/session.h"
#include "search/settings.h"
#include "search/stopping.h"
#include "search/strategy.h"
#include "store/store.h"

namespace pragma {
namespace {

// Returns the time that the harness spent on a trial: the total time without that of the models.
Seconds HarnessTime(const Recording& recording, const Trial& trial) {
  double models = 0;
  for (const CallRecord& call : recording.calls) {
    if (call.node != trial.node) continue;
    if (const auto completion = CompletionFromJson(call.completion_json))
      models += completion->seconds;
  }
  return Seconds(std::max(0.0, trial.spent.seconds - models));
}

Evaluate RecordedEvaluations(const Recording& recording, Clock& clock) {
  return [&recording, &clock](Candidate& candidate, const Trial* /*best*/,
                              int node) -> Result<Evaluation> {
    const auto index = static_cast<std::size_t>(node - 1);
    if (index >= recording.trials.size()) {
      return Fail(fmt::format("the recording of {} has no attempt {}", recording.run, node));
    }
    const Trial& trial = recording.trials[index];
    if (!trial.candidate || !IsVariantOf(*trial.candidate, candidate)) {
      return Fail(fmt::format(
          "attempt {}: this pragma reads the recorded reply as the candidate {}, the recording"
          " of {} has {}; a recorded evaluation cannot be used for another candidate",
          node, candidate.id(), recording.run, trial.candidate ? trial.candidate->id() : "none"));
    }
    candidate = *trial.candidate;  // including the choice of the recorded run's tuner
    clock.SleepFor(HarnessTime(recording, trial));
    return trial.evaluation;
  };
}

// The candidate was compared with the recorded one when its evaluation was requested.
Observe RecordedProfiles(const Recording& recording) {
  return [&recording](const Candidate& /*candidate*/, const Evaluation& /*evaluation*/,
                      const Trial* /*best*/, int node) -> Result<Profile> {
    const auto& profile = recording.trials.at(static_cast<std::size_t>(node - 1)).profile;
    return profile.value_or(Profile{});
  };
}

// The budget is the number of recorded trials. If the recorded run was interrupted, the replay ends
// there too. A Conductor's request to stop came one attempt later.
Budget ReplayBudget(const Recording& recording) {
  const int extra = recording.stopped == StopReason::kAdvice ? 1 : 0;
  return {.attempts = static_cast<int>(recording.trials.size()) + extra};
}

std::string Signature(const Recording& recording) {
  SearchTree tree;
  for (const Trial& trial : recording.trials) tree.Insert(trial);
  return tree.Signature();
}

Result<ReplayResult> Drive(const ReplayParts& parts, const Recording& recording,
                           const std::string& run) {
  const RunSettings& settings = recording.settings;
  ReplayModel replies(recording);
  RecordingModel model(replies, *parts.store);
  const AgentModels models{.conductor = &model, .coder = &model, .debugger = &model};
  const Agents agents = TRY(parts.make_agents(models, settings));
  const std::unique_ptr<Strategy> strategy = MakeStrategy(settings.preset, settings.seed);
  const MachineSummary machine{settings.machine};
  ReplayClock clock;
  const SessionParts session{.store = parts.store,
                             .strategy = strategy.get(),
                             .conductor = agents.conductor.get(),
                             .coder = agents.coder.get(),
                             .debugger = agents.debugger.get(),
                             .clock = &clock,
                             .evaluate = RecordedEvaluations(recording, clock),
                             .observe = RecordedProfiles(recording),
                             .seeds = settings.seeds,
                             .jobs = settings.jobs,
                             .overlap = false,
                             .task = &recording.task,
                             .kernel_header = &settings.kernel_header,
                             .machine = &machine,
                             .observer = parts.observer,
                             .example = &settings.example,
                             .advice_from_user = settings.advice_from_user,
                             .shown_attempts = settings.budget.attempts,
                             .most_without_code = 0};
  ReplayResult result{.run = run};
  result.session = TRY(RunSession(run, session, settings.preset, ReplayBudget(recording)));
  if (result.session.failure) return std::unexpected(*result.session.failure);
  result.same_tree = result.session.tree.Signature() == Signature(recording);
  result.reused = model.reused();
  result.notes = replies.notes();
  return result;
}

Result<ReplayResult> DriveToTheEnd(const ReplayParts& parts, const Recording& recording,
                                   const std::string& run) {
  ReplayResult result = TRY(Drive(parts, recording, run));
  // A replay that was not itself interrupted ends for the recorded reason.
  const bool complete = result.session.tree.size() == recording.trials.size();
  if (complete && recording.stopped != StopReason::kNone)
    result.session.stopped = recording.stopped;
  const std::string final_json = complete ? recording.final_json : "";
  TRY(parts.store->FinishRun(run, result.session.stopped, final_json));
  result.session.hold.Reset();
  return result;
}

// Returns the recorded attempt with a new evaluation.
Result<Trial> Remeasure(const Trial& recorded, const Trial* best, const Evaluate& evaluate) {
  if (Interrupted()) return Fail(ErrorKind::kInterrupted, "stopped");
  Trial fresh = recorded;
  if (fresh.candidate) fresh.evaluation = TRY(evaluate(*fresh.candidate, best, fresh.node));
  fresh.best = BecomesBest(fresh.evaluation, best);
  return fresh;
}

}  // namespace

Result<ReplayResult> ReplayRun(const ReplayParts& parts, const Recording& recording) {
  RunSettings settings = recording.settings;
  settings.recording = TRY(parts.store->PutArtefact(RecordingText(recording)));
  const RunRecord run = TRY(StartRun(*parts.store, recording.task, "", settings));
  return DriveToTheEnd(parts, recording, run.id);
}

Result<ReplayResult> ResumeReplay(const ReplayParts& parts, const std::string& run) {
  const RunRecord record = TRY(parts.store->FindRun(run));
  const RunSettings settings = TRY(RunSettingsFromJson(record.settings_json));
  if (settings.recording.empty())
    return Fail(ErrorKind::kUsage, "the run " + record.id + " is not a replay");
  const std::string text = TRY(parts.store->GetArtefact(settings.recording));
  const Recording recording = TRY(ParseRecording(text, "the recording of " + record.id));
  return DriveToTheEnd(parts, recording, record.id);
}

Result<RemeasureResult> RemeasureRun(const Recording& recording, const Evaluate& evaluate,
                                     const std::function<void(const Remeasured&)>& on_trial) {
  RemeasureResult result;
  std::optional<Trial> best;
  for (const Trial& recorded : recording.trials) {
    if (!recorded.candidate) continue;
    const Result<Trial> fresh = Remeasure(recorded, best ? &*best : nullptr, evaluate);
    if (!fresh && fresh.error().kind == ErrorKind::kInterrupted) {
      result.interrupted = true;
      break;
    }
    if (!fresh) return std::unexpected(fresh.error());
    if (fresh->best) best = *fresh;
    result.trials.push_back({.recorded = recorded, .fresh = *fresh});
    if (on_trial) on_trial(result.trials.back());
  }
  return result;
}

}  // namespace pragma
