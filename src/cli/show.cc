// pragma show prints the attempts of a run, once or as they arrive.
#include <fmt/format.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/evidence_keeping.h"
#include "app/recorded_run.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "core/enum_names.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "core/trial_summary.h"
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
constexpr int kLooksBeforeForsaken = 4;

struct ShowFlags {
  std::string run = "last";
  int node = 0;
  bool watch = false;
};

std::string HeadText(const Terminal& terminal, const RunOutline& outline) {
  const RunRecord& run = outline.run;
  Spent spent;
  for (const TrialSummary& trial : outline.trials) spent += trial.spent;
  std::vector<std::pair<std::string, std::string>> facts{
      {"run", run.id},
      {"task", SafeLine(run.task_name)},
      {"strategy", SafeLine(run.strategy)},
      {"state", run.state + (run.stopped == StopReason::kNone ? "" : ": " + EnumName(run.stopped))},
      {"started", FormatUtc(run.created_ms)},
      {"spent", FormatSpent(spent)}};
  if (!outline.bundle.empty()) facts.emplace_back("evidence", EvidenceText(outline.bundle));
  return RenderFacts(terminal, facts);
}

// Formats one trial in full: advice, source and verdict.
std::string TrialText(const Trial& trial, const std::string& bundle) {
  std::string text = TrialLine(Summarize(trial), trial.node) + "\n";
  const std::vector<std::string>& left_out = trial.evaluation.partly_checked;
  if (!left_out.empty()) text += "partly checked: no time for " + Join(left_out, ", ") + "\n";
  if (!bundle.empty()) text += "evidence: " + EvidenceText(bundle) + "\n";
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

std::string WholeText(const Terminal& terminal, const RunOutline& outline) {
  return HeadText(terminal, outline) + "\n" + TrialsText(terminal, outline.trials);
}

// Watcher shows a run while it goes on. On a terminal it redraws the whole table, elsewhere it
// writes one line per new attempt.
class Watcher final {
 public:
  explicit Watcher(const Console& console) : console_(console) {}

  void Show(const RunOutline& outline) {
    if (console_.out.interactive) {
      Redraw(WholeText(console_.out, outline));
    } else {
      PrintNew(outline);
    }
  }

  // Ends the display. Users who have seen only lines get the whole table.
  void Finish(const RunOutline& outline) const {
    if (!console_.out.interactive) console_.Print("\n" + WholeText(console_.out, outline));
  }

 private:
  void Redraw(const std::string& text) {
    if (text == shown_) return;
    shown_ = text;
    console_.Print("\x1b[H\x1b[2J" + text);
  }

  void PrintNew(const RunOutline& outline) {
    const Result<RunSettings> settings = RunSettingsFromJson(outline.run.settings_json);
    const int attempts = settings ? settings->budget.attempts : 0;
    for (; printed_ < outline.trials.size(); ++printed_)
      console_.Print(TrialLine(outline.trials[printed_], attempts) + "\n");
  }

  const Console& console_;
  std::string shown_;
  std::size_t printed_ = 0;
};

// Waits until the user stops the program, or until it is time for the next look.
void WaitForNews() {
  pollfd wake{.fd = InterruptFd(), .events = POLLIN, .revents = 0};
  ::poll(&wake, 1, kLookEveryMillis);
}

// Prints the whole run as an object, which takes longer to read. Does nothing without --json.
Result<void> PrintObject(const Console& console, const Store& store, const std::string& id) {
  if (!console.json) return {};
  const RecordedRun recorded = TRY(LoadRecordedRun(store, id));
  console.PrintJson(ShowObject(recorded.run, recorded.tree, recorded.calls, recorded.bundles));
  return {};
}

// Follows a run until it finishes. A run that is recorded as running but that no process holds was
// killed. A run that was just created is held by a process before the next look.
Result<int> Watch(const Context& context, const Store& store, const std::string& id) {
  const std::string run = TRY(store.FindRun(id)).id;  // "last" may soon mean another run
  Watcher watcher(context.console);
  for (int forsaken = 0; forsaken < kLooksBeforeForsaken;) {
    forsaken = TRY(store.RunIsHeld(run)) ? 0 : forsaken + 1;
    const RunOutline outline = TRY(LoadRunOutline(store, run));
    watcher.Show(outline);
    if (outline.run.state == "finished") {
      watcher.Finish(outline);
      TRY(PrintObject(context.console, store, run));
      return kExitGood;
    }
    if (Interrupted()) return kExitInterrupted;
    WaitForNews();
  }
  return Fail("no process works on the run " + run +
              " any more: it was killed; continue with: pragma resume " + run);
}

Result<std::string> NodeText(const Store& store, const RunOutline& outline, int node) {
  if (node < 0 || node > static_cast<int>(outline.trials.size())) {
    return Fail(ErrorKind::kUsage, fmt::format("the run has no node {}; its nodes are 1 to {}",
                                               node, outline.trials.size()));
  }
  const std::string& run = outline.run.id;
  return TrialText(TRY(store.FindTrial(run, node)), TRY(TrialBundle(store, run, node)));
}

Result<int> Show(const Context& context, const ShowFlags& flags) {
  const Store store = TRY(OpenExistingStore(context.app.home));
  if (flags.watch && flags.node != 0)
    return Fail(ErrorKind::kUsage, "--watch follows a whole run; leave out --node");
  if (flags.watch) return Watch(context, store, flags.run);
  const RunOutline outline = TRY(LoadRunOutline(store, flags.run));
  const std::string text = flags.node != 0 ? TRY(NodeText(store, outline, flags.node))
                                           : WholeText(context.console.out, outline);
  TRY(PrintObject(context.console, store, outline.run.id));
  context.console.Print(text);
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
  command.add_flag("--watch", flags->watch, "follow a run in progress until it ends");
  registry.actions[&command] = [flags](const Context& context) { return Show(context, *flags); };
}

}  // namespace pragma
