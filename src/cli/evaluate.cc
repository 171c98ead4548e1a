// pragma evaluate: judge one candidate against one task.
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
#include "cli/evaluation_request.h"
#include "cli/evidence_keeping.h"
#include "cli/phase_line.h"
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
  std::string candidate;
  std::string against;
  std::string request;
  std::string result;
  std::string bundle;  // file, or folder for files named by content
  int repeat = 1;
  bool no_timing = false;
  bool no_compile_baseline = false;
  VerifyFlags verify;
};

Result<EvaluationRequest> FromFlags(const EvaluateFlags& flags) {
  if (flags.task.empty() || flags.candidate.empty()) {
    return Fail(ErrorKind::kUsage,
                "evaluate needs a TASK and a CANDIDATE; see pragma evaluate --help");
  }
  EvaluationRequest request;
  request.task = flags.task;
  TRY(CheckTaskFile(request.task));
  request.candidate = TRY(LoadCandidate(flags.candidate));
  if (!flags.against.empty()) request.against = TRY(LoadCandidate(flags.against));
  if (flags.no_compile_baseline) request.measure = Measure::kEager;
  if (flags.no_timing) request.measure = Measure::kNothing;
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

struct Judged {
  std::vector<std::string> objects;  // evaluate objects, one per repetition
  std::vector<Evaluation> evaluations;
  std::string text;  // of the one that is shown
  std::size_t shown = 0;
};

// The first that did not pass, else the last: its reference was warmest.
std::size_t ShownOf(const std::vector<Evaluation>& evaluations) {
  const auto failed = std::ranges::find_if_not(evaluations, &Evaluation::passed);
  return failed == evaluations.end() ? evaluations.size() - 1
                                     : static_cast<std::size_t>(failed - evaluations.begin());
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

struct JudgeOptions {
  VerifyFlags verify;
  std::string bundle;
};

Result<Judged> Judge(const Context& context, const EvaluationRequest& request,
                     const JudgeOptions& options) {
  VerifyFlags verify = options.verify;
  if (!request.mode.empty()) verify.mode = request.mode;
  if (!request.cache.empty()) verify.cache = request.cache;
  if (request.threads > 0) verify.threads = request.threads;
  verify = verify.With(context.settings);
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto bench = TRY(Workbench::Create(context, verify.workbench_options()));
  const auto task = TRY(TaskBench::Open(*bench, request.task, verify.options()));
  Judged judged;
  const Candidate* against = request.against ? &*request.against : nullptr;
  for (int i = 0; i < request.repeat; ++i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "stopped by the user");
    const Evaluation evaluation =
        TRY(task->Evaluate(request.candidate, against, request.measure,
                           [&line](std::string_view phase) { line.Show(phase); }));
    judged.objects.push_back(EvaluateObject(task->task(), request.candidate, evaluation));
    judged.evaluations.push_back(evaluation);
  }
  judged.shown = ShownOf(judged.evaluations);
  const Evaluation& shown = judged.evaluations[judged.shown];
  judged.text = EvaluationText(context.console.out, task->task(), request.candidate, shown);
  if (options.bundle.empty() || !shown.passed()) return judged;
  line.Clear();
  const std::string bundle = TRY(WriteBundle(
      context, MakeBundle(*bench, *task, request.candidate, against, shown), options.bundle));
  judged.objects[judged.shown] = EvaluateObject(task->task(), request.candidate, shown, bundle);
  return judged;
}

int ExitOf(Status status) {
  if (status == Status::kPassed) return kExitGood;
  return status == Status::kTaskError ? kExitUsage : kExitRejected;
}

Result<Judged> Run(const Context& context, const EvaluateFlags& flags) {
  const TempDir scratch = TRY(TempDir::Create());
  const EvaluationRequest request =
      flags.request.empty() ? TRY(FromFlags(flags)) : TRY(FromFile(flags, scratch.path()));
  return Judge(context, request, {.verify = flags.verify, .bundle = flags.bundle});
}

// A task that fails is a verdict too (status task_error), so programs find it where they look.
std::string FailedObject(const EvaluateFlags& flags, const Error& error) {
  if (error.kind != ErrorKind::kTask) return FailureObject(error);
  return TaskErrorObject(std::filesystem::path(flags.task).stem().string(), error);
}

Result<int> Evaluate(const Context& context, const EvaluateFlags& flags) {
  const Result<Judged> judged = Run(context, flags);
  if (!judged) {
    const std::string object = FailedObject(flags, judged.error());
    if (!flags.result.empty()) TRY(WriteFileAtomic(flags.result, object + "\n"));
    context.console.PrintJson(object);
    Log(LogLevel::kError, judged.error().message);
    return ExitCodeOf(judged.error().kind);
  }
  std::string object = judged->objects[judged->shown];
  if (judged->objects.size() > 1) object = RepeatedObject(object, judged->objects);
  if (!flags.result.empty()) TRY(WriteFileAtomic(flags.result, object + "\n"));
  context.console.PrintJson(object);
  context.console.Print(judged->text);
  return ExitOf(judged->evaluations[judged->shown].status);
}

}  // namespace

void AddEvaluate(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "evaluate", "judge one kernel: build, check, time",
                                 "pragma evaluate model.py kernel.cpp --json");
  const auto flags = std::make_shared<EvaluateFlags>();
  command.add_option("TASK", flags->task, "PyTorch file in KernelBench's format");
  command.add_option("CANDIDATE", flags->candidate, ".cpp file, or folder with candidate.json");
  command.add_option("--against", flags->against, "present best, timed against as well")
      ->type_name("FILE");
  command.add_option("--repeat", flags->repeat, "evaluate N times on one warm reference")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
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
  flags->verify.AddTo(command);
  registry.actions[&command] = [flags](const Context& context) {
    return Evaluate(context, *flags);
  };
}

}  // namespace pragma
