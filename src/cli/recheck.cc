// pragma recheck judges the candidate of an evidence bundle once more, from the bundle alone.
#include "evidence/recheck.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "app/evidence_keeping.h"
#include "app/new_run.h"
#include "app/recorded_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "cli/recheck_report.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "evidence/bundle.h"
#include "evidence/bundle_files.h"
#include "machine/machine.h"
#include "report/phase_line.h"
#include "report/terminal.h"
#include "task/torch_server.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kLongestRunLimit{600};  // bounds what an untrusted bundle asks for
constexpr Seconds kBuildLimit{600};       // a bundle does not say what its compiler was allowed
constexpr std::size_t kErrorBytes = 600;

struct RecheckFlags {
  std::string bundle;
  bool no_timing = false;
  bool strict_nan = false;
  std::string quiet_wait = "0s";
};

Result<fs::path> BundleOfRun(const Context& context, const std::string& id) {
  const Store store = TRY(OpenExistingStore(context.app.home));
  const RunOutline outline = TRY(LoadRunOutline(store, id));
  if (outline.bundle.empty()) {
    return Fail(ErrorKind::kUsage, "the run " + outline.run.id +
                                       " has no evidence: none of its attempts passed, or "
                                       "it was replayed");
  }
  return FindBundle(EvidenceFolder(context.app.home), outline.bundle);
}

// Finds the bundle. `given` is a file, the beginning of a bundle's name, or a run.
Result<fs::path> FindGiven(const Context& context, const std::string& given) {
  std::error_code ignored;
  if (fs::exists(given, ignored)) return fs::path(given);
  if (LooksLikeBundleName(given)) return FindBundle(EvidenceFolder(context.app.home), given);
  if (given == "last" || given.starts_with("r-")) return BundleOfRun(context, given);
  return Fail(ErrorKind::kUsage, "there is no bundle " + given +
                                     "; name a file, the beginning of a bundle's name, or a run");
}

// Opens the bundle. An error message may contain text from the bundle, so it is escaped and
// shortened.
Result<OpenedBundle> Open(const fs::path& file) {
  Result<OpenedBundle> opened = LoadBundle(file);
  if (opened) return opened;
  return Fail(opened.error().kind, Shorten(SafeLine(opened.error().message), kErrorBytes));
}

VerifyOptions OptionsFor(const Bundle& bundle, const RecheckFlags& flags) {
  VerifyOptions options{.judging = bundle.options.judging};
  options.judging.strict_nan = flags.strict_nan || options.judging.strict_nan;
  options.judging.quiet_wait = Seconds(ParseDuration(flags.quiet_wait).value_or(0));
  options.judging.run_limit = std::min(options.judging.run_limit, kLongestRunLimit);
  return options;
}

// Returns what to measure: as much as the bundle has figures for.
Measure MeasureFor(const Evaluation& recorded, const RecheckFlags& flags) {
  if (flags.no_timing || !recorded.timing) return Measure::kNothing;
  return MeasureWith(recorded.compile.has_value());
}

// Returns the name of the task's file. kernel.h names the task, so the file gets the recorded name
// if that is plain letters, digits, '_' and '-'. Any other name is not trusted and is replaced.
std::string TaskFileName(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  const bool plain =
      !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
      });
  return (plain ? name : "task") + ".py";
}

// Rejudging takes one bundle to a verdict. Everything that it makes is in a scratch folder of its
// own, which is removed with it. What an untrusted task leaves in caches therefore never meets
// other work.
class Rejudging final {
 public:
  Rejudging(const Bundle& bundle, const RecheckFlags& flags, PhaseLine& line)
      : bundle_(bundle),
        measure_(MeasureFor(bundle.evaluation, flags)),
        flags_(flags),
        line_(line) {}

  Result<void> Open(const Context& context, const fs::path& scratch) {
    Context elsewhere = context;
    elsewhere.app.home = scratch / "home";
    const fs::path file = scratch / "task" / TaskFileName(bundle_.task_name);
    TRY(MakeDirectories(file.parent_path()));
    for (const auto& [path, text] : bundle_.task_files) {
      TRY(MakeDirectories((file.parent_path() / path).parent_path()));
      TRY(WriteFileAtomic(file.parent_path() / path, text));
    }
    TRY(WriteFileAtomic(file, bundle_.task_source));
    line_.Show("starting the reference");
    const Language language = bundle_.candidate.language;
    const int threads = std::min(bundle_.options.judging.threads, TRY(DescribeMachine()).threads);
    const bool timed = measure_ != Measure::kNothing;
    bench_ = TRY(Workbench::Create(
        elsewhere.app,
        {.threads = threads, .language = language, .build_limit = kBuildLimit, .timed = timed}));
    if (timed) TRY(CheckDevice(*bench_, language));
    task_ = TRY(TaskBench::Open(*bench_, file, OptionsFor(bundle_, flags_), measure_));
    return {};
  }

  Result<Rejudged> Run() {
    Rejudged now{
        .same_seed = {},
        .fresh_seed = {},
        .pragma = PRAGMA_VERSION,
        .system = SystemName(),
        .kernel_header_sha256 = Sha256Hex(InterfaceText(task_->task(), bundle_.candidate.language)),
        .options = OptionsOf(*bench_, *task_),
        .timed = measure_ != Measure::kNothing,
        .not_against = {}};
    task_->set_seed(TRY(SeedFromHex(bundle_.evaluation.seed)));
    now.same_seed = TRY(Judge("recorded seed", now.not_against));
    task_->set_seed(std::nullopt);
    now.fresh_seed = TRY(Judge("fresh seed", now.not_against));
    return now;
  }

  [[nodiscard]] const Task& task() const { return task_->task(); }

 private:
  // Judges with the kernel that the candidate was timed against. If that kernel fails, it judges
  // the candidate alone.
  Result<Evaluation> Judge(std::string_view seed, std::string& not_against) {
    const bool against = bundle_.against && not_against.empty() && measure_ != Measure::kNothing;
    Result<Evaluation> evaluation = Once(seed, against ? &*bundle_.against : nullptr);
    if (evaluation || !against || evaluation.error().kind == ErrorKind::kInterrupted)
      return evaluation;
    not_against = evaluation.error().message;
    return Once(seed, nullptr);
  }

  Result<Evaluation> Once(std::string_view seed, const Candidate* against) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "stopped by the user");
    return task_->Evaluate(bundle_.candidate, against, measure_, [&](std::string_view phase) {
      line_.Show(std::string(seed) + ": " + std::string(phase));
    });
  }

  const Bundle& bundle_;
  Measure measure_;
  const RecheckFlags& flags_;
  PhaseLine& line_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<TaskBench> task_;
};

Result<int> Recheck(const Context& context, const RecheckFlags& flags) {
  const fs::path file = TRY(FindGiven(context, flags.bundle));
  Rechecked rechecked{.opened = TRY(Open(file)), .task = {}, .now = {}, .report = {}};
  const Bundle& bundle = rechecked.opened.bundle;
  const TempDir scratch = TRY(TempDir::Create());
  {
    PhaseLine line(context.console.err);
    Rejudging rejudging(bundle, flags, line);
    TRY(rejudging.Open(context, scratch.path()));
    rechecked.now = TRY(rejudging.Run());
    rechecked.task = rejudging.task();
  }
  rechecked.task.name = bundle.task_name;
  rechecked.report = CompareWithRecord(bundle, rechecked.now);
  context.console.PrintJson(RecheckObject(rechecked));
  context.console.Print(RecheckText(context.console.out, rechecked));
  switch (rechecked.report.verdict) {
    case RecheckVerdict::kRefuted: return kExitRejected;
    case RecheckVerdict::kInconclusive: return kExitInconclusive;
    case RecheckVerdict::kConfirmed:
    case RecheckVerdict::kConfirmedWithNotes: break;
  }
  return kExitGood;
}

}  // namespace

void AddRecheck(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "recheck", "judge the kernel of an evidence bundle again",
                 "pragma recheck last\n  pragma recheck from-a-stranger.json --json\n\n"
                 "Exit code: 0 confirmed, 1 refuted, 2 not a bundle, 3 trouble of pragma itself,\n"
                 "  4 inconclusive (other programs disturbed the measurement)");
  const auto flags = std::make_shared<RecheckFlags>();
  command
      .add_option("BUNDLE", flags->bundle, "file, beginning of a bundle's name, run id, or 'last'")
      ->required();
  command.add_flag("--no-timing", flags->no_timing, "checks only");
  command.add_flag("--strict-nan", flags->strict_nan,
                   "reject a kernel that does not propagate NaN as PyTorch does");
  command
      .add_option("--quiet-wait", flags->quiet_wait,
                  "wait this long for other programs to be quiet (default: 0s)")
      ->type_name("TIME")
      ->check(DurationComplaint);
  registry.actions[&command] = [flags](const Context& context) { return Recheck(context, *flags); };
}

}  // namespace pragma
