// pragma model makes a whole model faster, and proves it end to end.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/agents.h"
#include "app/new_run.h"
#include "app/search_choice.h"
#include "app/whole_model.h"
#include "app/workbench.h"
#include "base/deadline.h"
#include "base/file.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "cli/search_flags.h"
#include "cli/time_limit.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/html_page.h"
#include "report/phase_line.h"
#include "report/search_progress.h"
#include "report/whole_model_text.h"

namespace pragma {
namespace {

constexpr double kUsualSeconds = 900;

struct ModelFlags {
  std::string file;
  std::string out = "fast";
  std::size_t parts = 8;
  bool no_compile_baseline = false;
  bool no_lint = false;
  SearchWish search;
  JudgingFlags judging;
};

ModelRow RowOf(const PartWork& work, const std::optional<ModelProof>& proof) {
  ModelRow row{.name = work.name,
               .kind = work.part.kind,
               .path = work.part.paths.empty() ? "" : work.part.paths.front(),
               .uses = work.part.paths.size(),
               .compiled = work.part.compiled,
               .operators = work.part.operators,
               .share = work.share,
               .speedup = work.speedup,
               .outcome = work.outcome.empty() ? "kept" : work.outcome,
               .runs = work.runs};
  if (!proof) return row;
  const auto alone = proof->alone.find(work.name);
  if (alone != proof->alone.end()) row.whole = alone->second;
  return row;
}

ModelFigures FiguresOf(const ModelProof& proof) {
  return {.eager_ms = proof.eager_ms,
          .compile_ms = proof.compile_ms,
          .compile = proof.compile,
          .kernels_ms = proof.kernels_ms,
          .compiled_kernels_ms = proof.compiled_kernels_ms,
          .compiled_kernels = proof.compiled_kernels,
          .compiled_is_faster = proof.compiled_is_faster,
          .speedup_eager = proof.speedup_eager,
          .speedup_compile = proof.speedup_compile,
          .rounds = proof.rounds,
          .slow_launches = proof.slow_launches,
          .error = proof.error.error,
          .eager_error = proof.error.eager,
          .limit = proof.error.limit,
          .reference = proof.error.reference,
          .first_call_eager = proof.first_call_eager,
          .first_call_kernels = proof.first_call_kernels,
          .peak_eager = proof.peak_eager,
          .peak_kernels = proof.peak_kernels};
}

ModelReport ReportOf(const WholeModelOutcome& outcome, const Workbench& bench,
                     const ModelFlags& flags) {
  ModelReport report{.name = outcome.model.name,
                     .kind = outcome.model.kind,
                     .parameters = outcome.model.parameters,
                     .operators = outcome.model.operators,
                     .calls = outcome.model.calls,
                     .seconds = outcome.model.seconds,
                     .threads = bench.machine().threads,
                     .cpu = bench.machine().cpu,
                     .gpu = bench.machine().device ? bench.machine().device->name : "",
                     .torch = outcome.torch};
  for (const PartWork& work : outcome.parts) report.parts.push_back(RowOf(work, outcome.proof));
  for (const ModelLeft& left : outcome.model.left)
    report.left.push_back({.path = left.path,
                           .uses = left.uses,
                           .kind = left.kind,
                           .share = left.seconds / outcome.model.seconds,
                           .why = left.why});
  if (!outcome.proof) return report;
  report.figures = FiguresOf(*outcome.proof);
  if (!outcome.proof->kept.empty()) report.folder = flags.out;
  return report;
}

// Writes the report beside the kernels.
Result<void> WritePage(const Context& context, const ModelReport& report) {
  const PageAssets assets = TRY(LoadPageAssets(context.app.paths.page_folders()));
  return WriteFileAtomic(std::filesystem::path(report.folder) / "report.html",
                         RenderPage(assets, ModelPageContent(report)));
}

// A package has kernels in C++ and in Triton.
Result<void> CheckLanguage(const SearchChoice& choice, const JudgingOptions& judging) {
  if (judging.language == Language::kCuda)
    return Fail(ErrorKind::kUsage,
                "--target cuda: the kernels of a whole model are in C++ or Triton; use --target "
                "triton for a GPU");
  return CheckTarget(choice, judging);
}

Result<int> MakeFaster(const Context& context, const ModelFlags& flags, const SearchChoice& choice,
                       const Deadline& deadline) {
  TRY(CheckModels(choice, context.app));
  const JudgingOptions judging = flags.judging.Over(context.app.settings);
  TRY(CheckLanguage(choice, judging));
  PhaseLine line(context.console.err);
  line.Show("preparing");
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags.judging.sandbox())));
  TRY(CheckDevice(*bench, judging.language));
  std::unique_ptr<SearchProgress> progress;
  const WholeModelObserver observer{
      .on_phase = [&](std::string_view phase) { progress.reset(), line.Show(phase); },
      .on_captured =
          [&](const WholeModelOutcome& found) {
            line.Clear();
            context.console.Note(
                ModelPartsText(context.console.err, ReportOf(found, *bench, flags)));
          },
      .on_part =
          [&](const PartWork& part, std::size_t number, std::size_t all) {
            progress.reset();
            line.Clear();
            context.console.Note(fmt::format("part {}/{}: {} {}, {:.0f} % of the time", number + 1,
                                             all, part.name, part.part.kind, 100 * part.share));
            progress =
                std::make_unique<SearchProgress>(context.console.err, choice.budget.attempts);
          },
      .search = {.on_phase = [&](int attempt,
                                 std::string_view phase) { progress->OnPhase(attempt, phase); },
                 .on_trial = [&](const Trial& trial,
                                 const SearchTree& tree) { progress->OnTrial(trial, tree); }}};
  const WholeModelOutcome outcome = TRY(
      OptimizeWholeModel(context.app, *bench,
                         {.file = flags.file,
                          .out = flags.out,
                          .part = {.choice = choice, .judging = judging, .lint = !flags.no_lint},
                          .most_parts = flags.parts,
                          .compile_baseline = !flags.no_compile_baseline,
                          .deadline = deadline},
                         observer));
  progress.reset();
  line.Clear();
  const ModelReport report = ReportOf(outcome, *bench, flags);
  if (!report.folder.empty()) TRY(WritePage(context, report));
  context.console.Print(ModelText(context.console.out, report));
  context.console.PrintJson(ModelObject(report));
  return report.folder.empty() ? kExitRejected : kExitGood;
}

Result<int> MakeFasterInTime(const Context& context, const ModelFlags& flags) {
  SearchChoice choice = TRY(ChooseSearch(flags.search, context.app));
  if (choice.budget.seconds <= 0) choice.budget.seconds = kUsualSeconds;
  return RunInTime(context, choice.budget.seconds, [&](const Deadline& deadline) {
    return MakeFaster(context, flags, choice, deadline);
  });
}

}  // namespace

void AddModel(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "model", "make a whole model faster, and prove it end to end",
                 "pragma model mine.py --out fast/");
  const auto flags = std::make_shared<ModelFlags>();
  command
      .add_option("FILE", flags->file,
                  "Python file with build(), which returns the model, and inputs(), which returns "
                  "a list of example calls; or a task in KernelBench's format")
      ->required();
  command.add_option("--out", flags->out, "folder for the kernels (fast)")->type_name("DIR");
  command
      .add_option("--islands", flags->parts, "search at most N parts, those that take most time")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command.add_flag("--no-compile-baseline", flags->no_compile_baseline,
                   "do not measure torch.compile");
  command.add_flag("--no-lint", flags->no_lint,
                   "skip the check that a part's task can distinguish a wrong kernel");
  AddSearchFlags(command, flags->search);
  flags->judging.AddTo(command);
  flags->judging.AddTargetTo(command);
  registry.actions[&command] = [flags](const Context& context) {
    return MakeFasterInTime(context, *flags);
  };
}

}  // namespace pragma
