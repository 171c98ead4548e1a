// pragma show: the attempts of a run, once or as they come.
#include <fmt/format.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/evidence_keeping.h"
#include "cli/recorded_run.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/figures.h"
#include "report/json_text.h"
#include "report/run_text.h"
#include "report/table.h"
#include "report/terminal.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

constexpr int kLookEveryMillis = 500;

struct ShowFlags {
  std::string run = "last";
  int node = 0;
  bool watch = false;
};

std::string HeadText(const Terminal& terminal, const RecordedRun& recorded) {
  const RunRecord& run = recorded.run;
  Spent spent;
  for (const Trial& trial : recorded.tree.trials()) spent += trial.spent;
  std::vector<std::pair<std::string, std::string>> facts{
      {"run", run.id},
      {"task", SafeLine(run.task_name)},
      {"strategy", SafeLine(run.strategy)},
      {"state", run.state + (run.stopped.empty() ? "" : ": " + run.stopped)},
      {"started", FormatUtc(run.created_ms)},
      {"spent", FormatSpent(spent)}};
  if (const std::string bundle = BestBundle(recorded.bundles, recorded.tree); !bundle.empty())
    facts.emplace_back("evidence", EvidenceText(bundle));
  return RenderFacts(terminal, facts);
}

// One trial in full: advice, source, verdict.
std::string TrialText(const Trial& trial, const BundleNames& bundles) {
  std::string text = TrialLine(trial, trial.node) + "\n";
  if (const auto bundle = bundles.find(trial.node); bundle != bundles.end())
    text += "evidence: " + EvidenceText(bundle->second) + "\n";
  if (trial.advice) {
    text += "\nadvice: " + SafeText(trial.advice->change) + "\n";
    if (!trial.advice->evidence.empty())
      text += "because: " + SafeText(trial.advice->evidence) + "\n";
  }
  if (!trial.evaluation.reason.empty()) text += "\n" + SafeText(trial.evaluation.reason) + "\n";
  if (trial.candidate) {
    text += fmt::format("\nflags: {}\n\n{}\n", SafeLine(Join(trial.candidate->flags, " ")),
                        SafeText(trial.candidate->source()));
  }
  return text;
}

std::string WholeText(const Terminal& terminal, const RecordedRun& recorded) {
  return HeadText(terminal, recorded) + "\n" + TrialsText(terminal, recorded.tree);
}

// Shows a run as it goes on: on a terminal the whole table anew, else a line for each new attempt.
class Watcher final {
 public:
  explicit Watcher(const Console& console) : console_(console) {}

  void Show(const RecordedRun& recorded) {
    if (console_.out.interactive) {
      Redraw(WholeText(console_.out, recorded));
    } else {
      PrintNew(recorded);
    }
  }

  // With the table for those who have seen lines only.
  void Finish(const RecordedRun& recorded) const {
    if (!console_.out.interactive) console_.Print("\n" + WholeText(console_.out, recorded));
  }

 private:
  void Redraw(const std::string& text) {
    if (text == shown_) return;
    shown_ = text;
    console_.Print("\x1b[H\x1b[2J" + text);
  }

  void PrintNew(const RecordedRun& recorded) {
    const Result<RunSettings> settings = RunSettingsFromJson(recorded.run.settings_json);
    const int attempts = settings ? settings->budget.attempts : 0;
    const std::vector<Trial>& trials = recorded.tree.trials();
    for (; printed_ < trials.size(); ++printed_)
      console_.Print(TrialLine(trials[printed_], attempts) + "\n");
  }

  const Console& console_;
  std::string shown_;
  std::size_t printed_ = 0;
};

// Until the user stops it or the time is over.
void WaitForNews() {
  pollfd wake{.fd = InterruptFd(), .events = POLLIN, .revents = 0};
  ::poll(&wake, 1, kLookEveryMillis);
}

Result<int> Watch(const Context& context, const Store& store, const std::string& id) {
  const std::string run = TRY(store.FindRun(id)).id;  // "last" may soon mean another
  Watcher watcher(context.console);
  while (true) {
    const RecordedRun recorded = TRY(LoadRecordedRun(store, run));
    watcher.Show(recorded);
    if (recorded.run.state == "finished") {
      watcher.Finish(recorded);
      context.console.PrintJson(
          ShowObject(recorded.run, recorded.tree, recorded.calls, recorded.bundles));
      return kExitGood;
    }
    if (Interrupted()) return kExitInterrupted;
    WaitForNews();
  }
}

Result<int> Show(const Context& context, const ShowFlags& flags) {
  const Store store = TRY(OpenExistingStore(context));
  if (flags.watch && flags.node > 0)
    return Fail(ErrorKind::kUsage, "--watch follows a whole run; leave out --node");
  if (flags.watch) return Watch(context, store, flags.run);
  const RecordedRun recorded = TRY(LoadRecordedRun(store, flags.run));
  if (flags.node < 0 || flags.node > static_cast<int>(recorded.tree.size())) {
    return Fail(ErrorKind::kUsage, fmt::format("the run has no node {}; its nodes are 1 to {}",
                                               flags.node, recorded.tree.size()));
  }
  context.console.PrintJson(
      ShowObject(recorded.run, recorded.tree, recorded.calls, recorded.bundles));
  const Terminal& out = context.console.out;
  context.console.Print(flags.node > 0 ? TrialText(recorded.tree.at(flags.node), recorded.bundles)
                                       : WholeText(out, recorded));
  return kExitGood;
}

}  // namespace

void AddShow(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "show", "show the attempts of a run",
                                 "pragma show last --node 3\n  pragma show last --watch");
  const auto flags = std::make_shared<ShowFlags>();
  command.add_option("RUN", flags->run, "run id, its beginning, or 'last' (default)");
  command.add_option("--node", flags->node, "show this attempt in full, with its source")
      ->type_name("N");
  command.add_flag("--watch", flags->watch, "follow a run that is under way, until it ends");
  registry.actions[&command] = [flags](const Context& context) { return Show(context, *flags); };
}

}  // namespace pragma
