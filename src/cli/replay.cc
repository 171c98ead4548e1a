// pragma replay drives a recorded run again. With --remeasure it builds, checks and times its
// kernels anew.
#include "search/replay.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/agents.h"
#include "app/new_run.h"
#include "app/recorded_run.h"
#include "app/recorded_task.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "cli/remeasure_report.h"
#include "cli/replaying.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "knowledge/metric_file.h"
#include "report/json_text.h"
#include "report/phase_line.h"
#include "report/run_text.h"
#include "report/search_progress.h"
#include "search/recording.h"
#include "search/session.h"
#include "store/store.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

struct ReplayFlags {
  std::string what;
  bool remeasure = false;
  bool no_compile_baseline = false;
  JudgingFlags judging;
};

Result<ReplayParts> Parts(const Context& context, Store& store, SearchProgress& progress) {
  const MetricTable metrics = TRY(LoadMetrics(context.app.paths.knowledge()));
  ReplayParts parts{.store = &store, .make_agents = RunAgents(context.app.paths, metrics)};
  parts.observer.on_phase = [&progress](int attempt, std::string_view phase) {
    progress.OnPhase(attempt, phase);
  };
  parts.observer.on_trial = [&progress](const Trial& trial, const SearchTree& tree) {
    progress.OnTrial(trial, tree);
  };
  return parts;
}

Result<int> PrintReplayed(const Context& context, const ReplayResult& replayed) {
  const SearchTree& tree = replayed.session.tree;
  for (const std::string& note : replayed.notes) context.console.Note(note);
  context.console.PrintJson(ReplayObject({.run = replayed.run,
                                          .attempts = tree.size(),
                                          .stopped = replayed.session.stopped,
                                          .signature = tree.Signature(),
                                          .same_tree = replayed.same_tree,
                                          .reused = static_cast<std::size_t>(replayed.reused)}));
  context.console.Print("\n" + TrialsText(context.console.out, Summarize(tree.trials())) +
                        fmt::format("\nrun {}: replayed {} attempts; the tree is {}\n",
                                    replayed.run, tree.size(),
                                    replayed.same_tree ? "the recorded one" : "ANOTHER one"));
  if (replayed.session.stopped == StopReason::kInterrupted && !replayed.same_tree)
    return kExitInterrupted;
  return replayed.same_tree ? kExitGood : kExitRejected;
}

Result<int> Replay(const Context& context, const Recording& recording) {
  Store store = TRY(Store::Open(context.app.home));
  SearchProgress progress(context.console.err, static_cast<int>(recording.trials.size()));
  const ReplayParts parts = TRY(Parts(context, store, progress));
  const ReplayResult replayed = TRY(ReplayRun(parts, recording));
  progress.Stop();
  return PrintReplayed(context, replayed);
}

Evaluate Fresh(TaskBench& task, SearchProgress& progress, bool compile_baseline) {
  return [&task, &progress, compile_baseline](const Candidate& candidate, const Trial* best,
                                              int node) {
    const Candidate* present = best == nullptr ? nullptr : &*best->candidate;
    const bool compile = compile_baseline && present == nullptr;
    return task.Evaluate(
        candidate, present, MeasureWith(compile),
        [&progress, node](std::string_view phase) { progress.OnPhase(node, phase); });
  };
}

// Measures the best by the fresh figures once more on its own. Returns nullopt if no kernel passed.
Result<std::optional<FreshBest>> MeasureBest(TaskBench& task, const RemeasureResult& result,
                                             SearchProgress& progress, bool compile_baseline) {
  const Trial* best = nullptr;
  for (const Remeasured& trial : result.trials) best = trial.fresh.best ? &trial.fresh : best;
  if (best == nullptr || result.interrupted) return std::nullopt;
  const Measure measure = MeasureWith(compile_baseline);
  Evaluation evaluation =
      TRY(task.Evaluate(*best->candidate, nullptr, measure,
                        [&](std::string_view phase) { progress.OnPhase(best->node, phase); }));
  return FreshBest{
      .node = best->node, .candidate = *best->candidate, .evaluation = std::move(evaluation)};
}

Result<int> Remeasure(const Context& context, const Recording& recording,
                      const ReplayFlags& flags) {
  const TimePoint start = SystemClock().Now();
  JudgingOptions judging = flags.judging.Over(context.app.settings);
  judging.language = recording.settings.language;
  judging.eval = !recording.task.training;
  context.console.Note(
      fmt::format("replaying {}: {}, {} attempts, every kernel built, checked and timed here",
                  recording.run, recording.task.name, recording.trials.size()));
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const RecordedTask file = TRY(FindRecordedTask(recording.task, ""));
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags.judging.sandbox())));
  TRY(CheckDevice(*bench, judging.language));
  const auto task = TRY(TaskBench::Open(*bench, file.path, {.judging = judging},
                                        MeasureWith(!flags.no_compile_baseline)));
  line.Clear();
  SearchProgress progress(context.console.err, static_cast<int>(recording.trials.size()));
  RemeasureReport report{.recording = &recording, .task = &task->task()};
  report.start_seconds = Seconds(SystemClock().Now() - start).count();
  const bool compile = !flags.no_compile_baseline;
  report.result =
      TRY(RemeasureRun(recording, Fresh(*task, progress, compile),
                       [&progress](const Remeasured& trial) { progress.OnFresh(trial.fresh); }));
  report.best = TRY(MeasureBest(*task, report.result, progress, compile));
  progress.Stop();
  report.total_seconds = Seconds(SystemClock().Now() - start).count();
  context.console.PrintJson(RemeasureObject(report));
  context.console.Print(RemeasureText(context.console.out, report));
  if (report.result.interrupted) return kExitInterrupted;
  return report.best && report.best->evaluation.passed() ? kExitGood : kExitRejected;
}

Result<int> RunReplay(const Context& context, const ReplayFlags& flags) {
  const Recording recording = TRY(FindRecording(context.app.home, flags.what));
  return flags.remeasure ? Remeasure(context, recording, flags) : Replay(context, recording);
}

}  // namespace

Result<int> ResumeReplayed(const Context& context, Store& store, const RunRecord& run) {
  SearchProgress progress(context.console.err, 0);
  const ReplayParts parts = TRY(Parts(context, store, progress));
  const ReplayResult replayed = TRY(ResumeReplay(parts, run.id));
  progress.Stop();
  TRY(AddReusedCalls(store, run.id, static_cast<std::size_t>(replayed.reused)));
  return PrintReplayed(context, replayed);
}

void AddReplay(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "replay", "repeat a recorded run without a model",
                                 "pragma replay recording.jsonl --remeasure");
  const auto flags = std::make_shared<ReplayFlags>();
  command.add_option("RUN|FILE", flags->what, "run id, 'last', or a recording's file")->required();
  command.add_flag("--remeasure", flags->remeasure,
                   "build, check and time every recorded kernel on this machine");
  command.add_flag("--no-compile-baseline", flags->no_compile_baseline,
                   "do not measure torch.compile");
  flags->judging.AddTo(command);
  registry.actions[&command] = [flags](const Context& context) {
    return RunReplay(context, *flags);
  };
}

}  // namespace pragma
