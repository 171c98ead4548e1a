// pragma export writes the best kernel of a run as files, or the whole run as a recording.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "app/exporting.h"
#include "app/recorded_run.h"
#include "app/recorded_task.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "cli/replaying.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/json_dump.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/json_text.h"
#include "report/phase_line.h"
#include "search/recording.h"
#include "store/store.h"

namespace pragma {
namespace {

struct ExportFlags {
  std::string what = "last";
  std::string out;
  std::string recording;
  int node = 0;
  bool unsafe_no_sandbox = false;
};

// Returns the trial of the requested node. Without a node it returns the best trial.
Result<const Trial*> TrialToExport(const SearchTree& tree, int node) {
  const bool exists = node > 0 && node <= static_cast<int>(tree.size());
  if (node > 0 && !exists) {
    return Fail(ErrorKind::kUsage, "the run has no node " + std::to_string(node));
  }
  const Trial* trial = exists ? &tree.at(node) : tree.best();
  if (trial == nullptr) return Fail(ErrorKind::kUsage, "the run has no kernel that passed");
  if (!trial->evaluation.passed()) {
    return Fail(ErrorKind::kUsage,
                "the kernel of node " + std::to_string(node) + " did not pass; it is not exported");
  }
  return trial;
}

Result<int> ExportFiles(const Context& context, const ExportFlags& flags) {
  Recording recording = TRY(FindRecording(context.app.home, flags.what));
  SearchTree tree;
  for (Trial& trial : recording.trials) tree.Insert(std::move(trial));
  const Trial* trial = TRY(TrialToExport(tree, flags.node));
  const RecordedTask file = TRY(FindRecordedTask(recording.task, ""));
  const JudgingFlags flags_of_export{.unsafe_no_sandbox = flags.unsafe_no_sandbox};
  JudgingOptions judging = flags_of_export.Over(context.app.settings);
  judging.language = recording.settings.language;
  judging.eval = !recording.task.training;
  PhaseLine line(context.console.err);
  line.Show("building the export and checking it");
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags_of_export.sandbox())));
  const auto task =
      TRY(TaskBench::Open(*bench, file.path, {.judging = judging}, Measure::kNothing));
  const ExportReport report =
      TRY(ExportAndCheck(context.app, *bench, *task, *trial->candidate, flags.out));
  line.Clear();
  nlohmann::ordered_json object = {{"schema", kJsonSchema},     {"run", recording.run},
                                   {"node", trial->node},       {"exported", report.files},
                                   {"checked", report.checked}, {"complaint", report.complaint}};
  context.console.PrintJson(Dump(object));
  context.console.Print(ExportText(report));
  return report.checked || report.untried ? kExitGood : kExitRejected;
}

Result<int> ExportRecordingFile(const Context& context, const ExportFlags& flags) {
  const Store store = TRY(OpenExistingStore(context.app.home));
  const RunRecord run = TRY(store.FindRun(flags.what));
  TRY(ExportRecording(store, run.id, flags.recording));
  const nlohmann::ordered_json object = {
      {"schema", kJsonSchema}, {"run", run.id}, {"exported", {flags.recording}}};
  context.console.PrintJson(object.dump());
  context.console.Print("exported  " + flags.recording + "\n");
  return kExitGood;
}

Result<int> Export(const Context& context, const ExportFlags& flags) {
  if (!flags.recording.empty()) return ExportRecordingFile(context, flags);
  if (flags.out.empty()) {
    return Fail(ErrorKind::kUsage,
                "say where to with --out DIR (kernel) or --recording FILE (the whole run)");
  }
  return ExportFiles(context, flags);
}

}  // namespace

void AddExport(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "export", "write ModelNew and the sources of a run's best kernel",
                 "pragma export last --out fast/");
  const auto flags = std::make_shared<ExportFlags>();
  command.add_option("RUN|FILE", flags->what, "run id, 'last' (default), or a recording's file");
  command.add_option("--out", flags->out, "folder for ModelNew and the kernel's own files")
      ->type_name("DIR");
  command.add_option("--node", flags->node, "export this attempt instead of the best")
      ->type_name("N");
  command
      .add_option("--recording", flags->recording, "write the whole run, for a replay elsewhere")
      ->type_name("FILE");
  command.add_flag("--unsafe-no-sandbox", flags->unsafe_no_sandbox,
                   "run without protection where bubblewrap does not work");
  registry.actions[&command] = [flags](const Context& context) { return Export(context, *flags); };
}

}  // namespace pragma
