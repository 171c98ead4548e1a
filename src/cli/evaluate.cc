// pragma evaluate: judge candidates against one task.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/candidate_file.h"
#include "cli/command.h"
#include "cli/drop_in.h"
#include "cli/evaluation_request.h"
#include "cli/evidence_keeping.h"
#include "cli/phase_line.h"
#include "cli/settings.h"
#include "cli/tuning.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "evidence/bundle.h"
#include "evidence/bundle_files.h"
#include "report/evaluation_text.h"
#include "report/json_text.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

struct EvaluateFlags {
  std::string task;
  std::vector<std::string> candidates;
  std::string against;
  std::string request;
  std::string result;
  std::string bundle;  // file, or folder for files named by content
  int repeat = 1;
  bool no_timing = false;
  bool no_compile_baseline = false;
  bool dropin = false;
  bool sanitize = false;
  TuneFlags tune;
  VerifyFlags verify;
};

Result<EvaluationRequest> FromFlags(const EvaluateFlags& flags) {
  if (flags.task.empty() || flags.candidates.empty()) {
    return Fail(ErrorKind::kUsage,
                "evaluate needs a TASK and a CANDIDATE; see pragma evaluate --help");
  }
  EvaluationRequest request;
  request.task = flags.task;
  TRY(CheckTaskFile(request.task));
  for (const std::string& candidate : flags.candidates) {
    request.candidates.push_back(TRY(LoadCandidate(candidate)));
  }
  if (!flags.against.empty()) request.against = TRY(LoadCandidate(flags.against));
  if (flags.no_compile_baseline) request.measure = Measure::kEager;
  if (flags.no_timing) request.measure = Measure::kNothing;
  request.drop_in = flags.dropin;
  request.sanitize = flags.sanitize;
  request.tune = flags.tune.choice();
  request.repeat = flags.repeat;
  return request;
}

Result<EvaluationRequest> FromFile(const EvaluateFlags& flags,
                                   const std::filesystem::path& scratch) {
  if (!flags.task.empty()) {
    return Fail(ErrorKind::kUsage, "give either TASK and CANDIDATE or --request FILE, not both");
  }
  const Result<std::string> text = ReadFile(flags.request);
  if (!text) return Fail(ErrorKind::kUsage, text.error().message);
  const std::filesystem::path file(flags.request);
  EvaluationRequest request = TRY(ParseRequest(*text, file.parent_path(), scratch));
  TRY(CheckTaskFile(request.task));
  return request;
}

// What became of one candidate.
struct Judged {
  std::vector<std::string> objects;  // evaluate objects, one per repetition
  std::vector<Evaluation> evaluations;
  std::size_t shown = 0;  // the first that did not pass, else the last: its reference was warmest
  std::string text;       // of the one that is shown
};

std::size_t ShownOf(const std::vector<Evaluation>& evaluations) {
  const auto failed = std::ranges::find_if_not(evaluations, &Evaluation::passed);
  return failed == evaluations.end() ? evaluations.size() - 1
                                     : static_cast<std::size_t>(failed - evaluations.begin());
}

std::string ObjectOf(const Judged& judged) {
  const std::string& shown = judged.objects[judged.shown];
  return judged.objects.size() > 1 ? RepeatedObject(shown, judged.objects) : shown;
}

bool NamesFolder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

// Returns the bundle's sha256.
Result<std::string> WriteBundle(const Context& context, const Bundle& bundle,
                                const std::string& wish) {
  const SealedBundle sealed = Seal(bundle);
  std::filesystem::path path = wish;
  if (NamesFolder(wish)) {
    path = TRY(KeepBundle(sealed, wish));
  } else {
    TRY(WriteFileAtomic(path, sealed.text));
  }
  context.console.Note("evidence: " + path.string());
  return sealed.sha256;
}

VerifyFlags VerifyFlagsOf(const EvaluationRequest& request, const VerifyFlags& given,
                          const Settings& settings) {
  VerifyFlags verify = given;
  if (!request.mode.empty()) verify.mode = request.mode;
  if (!request.cache.empty()) verify.cache = request.cache;
  if (request.threads > 0) verify.threads = request.threads;
  return verify.With(settings);
}

// `candidate` becomes the variant that its tunables were tuned to.
Result<Judged> JudgeOne(const Context& context, Workbench& bench, TaskBench& task,
                        Candidate& candidate, const EvaluationRequest& request, PhaseLine& line) {
  Judged judged;
  for (int i = 0; i < request.repeat; ++i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "stopped by the user");
    const auto on_phase = [&line](std::string_view phase) { line.Show(phase); };
    Evaluation evaluation =
        TRY(EvaluateTuned(bench, task, candidate,
                          {.best = request.against ? &*request.against : nullptr,
                           .measure = request.measure,
                           .tune = request.tune},
                          on_phase));
    if (i > 0 && !evaluation.tuning) evaluation.tuning = judged.evaluations.front().tuning;
    if (request.sanitize) TRY(task.Sanitize(candidate, evaluation, on_phase));
    if (request.drop_in) TRY(AddDropIn(context, bench, task, candidate, evaluation, on_phase));
    judged.objects.push_back(EvaluateObject(task.task(), candidate, evaluation));
    judged.evaluations.push_back(std::move(evaluation));
  }
  judged.shown = ShownOf(judged.evaluations);
  judged.text =
      EvaluationText(context.console.out, task.task(), candidate, judged.evaluations[judged.shown]);
  return judged;
}

// The shown evaluation's bundle, when it passed; its JSON object then names it.
Result<void> KeepEvidence(const Context& context, const Workbench& bench, const TaskBench& task,
                          const Candidate& candidate, const EvaluationRequest& request,
                          const std::string& wish, Judged& judged) {
  const Evaluation& shown = judged.evaluations[judged.shown];
  if (!shown.passed()) return {};
  const Candidate* against = request.against ? &*request.against : nullptr;
  const std::string bundle =
      TRY(WriteBundle(context, MakeBundle(bench, task, candidate, against, shown), wish));
  judged.objects[judged.shown] = EvaluateObject(task.task(), candidate, shown, bundle);
  return {};
}

// All candidates in order, on one warm reference.
Result<std::vector<Judged>> Judge(const Context& context, const EvaluationRequest& request,
                                  const EvaluateFlags& flags) {
  VerifyFlags verify = VerifyFlagsOf(request, flags.verify, context.settings);
  TRY(verify.ReadShapes());
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto bench = TRY(Workbench::Create(context, verify.workbench_options()));
  const auto task = TRY(TaskBench::Open(*bench, request.task, verify.options()));
  std::vector<Judged> all;
  for (Candidate candidate : request.candidates) {
    all.push_back(TRY(JudgeOne(context, *bench, *task, candidate, request, line)));
    if (flags.bundle.empty()) continue;
    line.Clear();
    TRY(KeepEvidence(context, *bench, *task, candidate, request, flags.bundle, all.back()));
  }
  return all;
}

int ExitOf(Status status) {
  if (status == Status::kPassed) return kExitGood;
  return status == Status::kTaskError ? kExitUsage : kExitRejected;
}

// Of several candidates the first that did not pass decides.
int ExitOf(const std::vector<Judged>& all) {
  for (const Judged& judged : all) {
    const int code = ExitOf(judged.evaluations[judged.shown].status);
    if (code != kExitGood) return code;
  }
  return kExitGood;
}

std::string ObjectOf(const std::vector<Judged>& all) {
  if (all.size() == 1) return ObjectOf(all.front());
  std::vector<std::string> objects;
  for (const Judged& judged : all) objects.push_back(ObjectOf(judged));
  return EvaluationsObject(objects);
}

std::string TextOf(const EvaluateFlags& flags, const std::vector<Judged>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.size() > 1) text += (i > 0 ? "\n" : "") + flags.candidates[i] + "\n";
    text += all[i].text;
  }
  return text;
}

Result<std::vector<Judged>> Run(const Context& context, const EvaluateFlags& flags) {
  const TempDir scratch = TRY(TempDir::Create());
  const EvaluationRequest request =
      flags.request.empty() ? TRY(FromFlags(flags)) : TRY(FromFile(flags, scratch.path()));
  if (request.candidates.size() > 1 && !flags.bundle.empty() && !NamesFolder(flags.bundle)) {
    return Fail(ErrorKind::kUsage,
                "--bundle " + flags.bundle + ": several candidates need a folder (end it with /)");
  }
  return Judge(context, request, flags);
}

// A task that fails is a verdict too (status task_error), so programs find it where they look.
std::string FailedObject(const EvaluateFlags& flags, const Error& error) {
  if (error.kind != ErrorKind::kTask) return FailureObject(error);
  return TaskErrorObject(std::filesystem::path(flags.task).stem().string(), error);
}

Result<int> Evaluate(const Context& context, const EvaluateFlags& flags) {
  const Result<std::vector<Judged>> all = Run(context, flags);
  if (!all) {
    const std::string object = FailedObject(flags, all.error());
    if (!flags.result.empty()) TRY(WriteFileAtomic(flags.result, object + "\n"));
    context.console.PrintJson(object);
    Log(LogLevel::kError, all.error().message);
    return ExitCodeOf(all.error().kind);
  }
  const std::string object = ObjectOf(*all);
  if (!flags.result.empty()) TRY(WriteFileAtomic(flags.result, object + "\n"));
  context.console.PrintJson(object);
  context.console.Print(TextOf(flags, *all));
  return ExitOf(*all);
}

}  // namespace

void AddEvaluate(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "evaluate", "judge kernels: build, check, time",
                                 "pragma evaluate model.py kernel.cpp --json");
  const auto flags = std::make_shared<EvaluateFlags>();
  command.add_option("TASK", flags->task, "PyTorch file in KernelBench's format");
  command.add_option("CANDIDATE", flags->candidates,
                     ".cpp or .py files, or folders with candidate.json; judged in order");
  command.add_option("--against", flags->against, "present best, timed against as well")
      ->type_name("FILE");
  command.add_option("--repeat", flags->repeat, "evaluate each N times on one warm reference")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command.add_flag("--sanitize", flags->sanitize,
                   "run sanitizers over a passed kernel, as optimize does for a new best");
  command.add_flag("--dropin", flags->dropin,
                   "also time ModelNew, as export writes it, against Model");
  command.add_flag("--no-timing", flags->no_timing, "checks only");
  command.add_flag("--no-compile-baseline", flags->no_compile_baseline,
                   "do not measure torch.compile");
  command.add_option("--request", flags->request, "read task, candidate and options from FILE")
      ->type_name("FILE");
  command.add_option("--result", flags->result, "also write the JSON object to FILE")
      ->type_name("FILE");
  command
      .add_option("--bundle", flags->bundle,
                  "when it passes, write its evidence to FILE, or into a folder")
      ->type_name("FILE");
  flags->tune.AddTo(command);
  flags->verify.AddTo(command);
  flags->verify.AddShapesTo(command);
  registry.actions[&command] = [flags](const Context& context) {
    return Evaluate(context, *flags);
  };
}

}  // namespace pragma
