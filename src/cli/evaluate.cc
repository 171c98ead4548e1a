// pragma evaluate judges candidates against one task.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/candidate_file.h"
#include "app/evaluation_request.h"
#include "app/judge.h"
#include "app/task_bench.h"
#include "app/tuning.h"
#include "app/workbench.h"
#include "base/file.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "core/candidate.h"
#include "core/status.h"
#include "evidence/bundle_files.h"
#include "evidence/sealed_bundle.h"
#include "report/json_text.h"
#include "report/phase_line.h"
#include "serve/client.h"
#include "serve/protocol.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

struct EvaluateFlags {
  std::string task;
  std::vector<std::string> candidates;
  std::string against;
  std::string request;
  std::string result;
  std::string bundle;  // file, or folder for files that are named by their content
  int repeat = 1;
  bool no_timing = false;
  bool no_compile_baseline = false;
  bool call = false;
  bool sanitize = false;
  TuneWish tune;
  bool no_serve = false;
  std::string socket;  // the server's socket; empty: in the home folder
  JudgingFlags judging;
};

Result<EvaluationRequest> FromFlags(const EvaluateFlags& flags) {
  if (flags.task.empty() || flags.candidates.empty()) {
    return Fail(ErrorKind::kUsage,
                "evaluate needs a TASK and a CANDIDATE; see pragma evaluate --help");
  }
  EvaluationRequest request;
  request.task = flags.task;
  TRY(CheckTaskFile(request.task));
  const Language language = flags.judging.language();
  for (const std::string& candidate : flags.candidates) {
    request.candidates.push_back(TRY(LoadCandidate(candidate, language)));
  }
  if (!flags.against.empty()) request.against = TRY(LoadCandidate(flags.against, language));
  if (flags.no_compile_baseline) request.measure = Measure::kEager;
  if (flags.no_timing) request.measure = Measure::kNothing;
  request.call = flags.call;
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

bool NamesFolder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

Result<void> WriteBundle(const Context& context, const SealedBundle& sealed,
                         const std::string& wish) {
  std::filesystem::path path = wish;
  if (NamesFolder(wish)) {
    path = TRY(KeepBundle(sealed, wish));
  } else {
    TRY(WriteFileAtomic(path, sealed.text));
  }
  context.console.Note("evidence: " + path.string());
  return {};
}

// What to judge, and how.
struct Plan {
  EvaluationRequest request;
  JudgingOptions judging;
  SandboxMode sandbox = SandboxMode::kBest;
  Evidence evidence = Evidence::kNo;
};

// Judges the candidates from index all.size() on, in order, on one warm reference in this process.
Result<void> JudgeHere(const Context& context, const Plan& plan, PhaseLine& line,
                       std::vector<Verdict>& all) {
  if (all.size() == plan.request.candidates.size()) return {};
  line.Show("starting the reference");
  const auto bench = TRY(Workbench::Create(context.app, WorkbenchFor(plan.judging, plan.sandbox)));
  const auto task = TRY(
      TaskBench::Open(*bench, plan.request.task, {.judging = plan.judging}, plan.request.most()));
  const EvaluationContext evaluation{
      .app = context.app, .bench = *bench, .task = *task, .terminal = context.console.out};
  const auto on_phase = [&line](std::string_view phase) { line.Show(phase); };
  while (all.size() < plan.request.candidates.size()) {
    const Candidate& candidate = plan.request.candidates[all.size()];
    all.push_back(
        TRY(JudgeCandidate(evaluation, plan.request, candidate, plan.evidence, on_phase)));
  }
  return {};
}

// Lets a server judge as many candidates as it can, and judges the rest in this process.
Result<std::vector<Verdict>> Judge(const Context& context, const EvaluateFlags& flags, Plan plan) {
  PhaseLine line(context.console.err);
  std::vector<Verdict> all;
  if (!flags.no_serve) {
    const std::filesystem::path socket =
        flags.socket.empty() ? ServeSocket(context.app.home) : std::filesystem::path(flags.socket);
    TRY(AskServer({.app = context.app,
                   .socket = socket,
                   .request = plan.request,
                   .judging = plan.judging,
                   .evidence = plan.evidence,
                   .must_be_there = !flags.socket.empty(),
                   .unprotected = plan.sandbox == SandboxMode::kUnsafeNone,
                   .terminal = context.console.out,
                   .note = [&context](const std::string& text) { context.console.Note(text); }},
                  line, all));
  }
  TRY(JudgeHere(context, plan, line, all));
  line.Clear();
  for (const Verdict& verdict : all) {
    if (verdict.bundle) TRY(WriteBundle(context, *verdict.bundle, flags.bundle));
  }
  return all;
}

int ExitOf(Status status) {
  if (status == Status::kPassed) return kExitGood;
  return status == Status::kTaskError ? kExitUsage : kExitRejected;
}

// With several candidates the first that did not pass decides the exit code.
int ExitOf(const std::vector<Verdict>& all) {
  for (const Verdict& verdict : all) {
    const int code = ExitOf(verdict.status);
    if (code != kExitGood) return code;
  }
  return kExitGood;
}

std::string ObjectOf(const std::vector<Verdict>& all) {
  if (all.size() == 1) return all.front().object;
  std::vector<std::string> objects;
  for (const Verdict& verdict : all) objects.push_back(verdict.object);
  return EvaluationsObject(objects);
}

std::string TextOf(const EvaluateFlags& flags, const std::vector<Verdict>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.size() > 1) text += (i > 0 ? "\n" : "") + flags.candidates[i] + "\n";
    text += all[i].text;
  }
  return text;
}

Result<std::vector<Verdict>> Run(const Context& context, const EvaluateFlags& flags) {
  const TempDir scratch = TRY(TempDir::Create());
  Plan plan{.request = flags.request.empty() ? TRY(FromFlags(flags))
                                             : TRY(FromFile(flags, scratch.path()))};
  if (plan.request.candidates.size() > 1 && !flags.bundle.empty() && !NamesFolder(flags.bundle)) {
    return Fail(ErrorKind::kUsage,
                "--bundle " + flags.bundle + ": several candidates need a folder (end it with /)");
  }
  // What the request says comes first, then the flags, then the settings.
  JudgingFlags judging = flags.judging;
  TRY(judging.ReadShapes());
  plan.request.judging.insert(judging.given.begin(), judging.given.end());
  judging.given = plan.request.judging;
  plan.judging = judging.Over(context.app.settings);
  plan.sandbox = judging.sandbox();
  TRY(CheckTarget(plan.request, plan.judging.language));
  plan.evidence = flags.bundle.empty() ? Evidence::kNo : Evidence::kYes;
  return Judge(context, flags, std::move(plan));
}

// Formats the error. A failing task is a verdict too (status task_error), so that programs find it
// where they look for verdicts.
std::string FailedObject(const EvaluateFlags& flags, const Error& error) {
  if (error.kind != ErrorKind::kTask) return FailureObject(error);
  return TaskErrorObject(std::filesystem::path(flags.task).stem().string(), error);
}

Result<int> EvaluateCommand(const Context& context, const EvaluateFlags& flags) {
  const Result<std::vector<Verdict>> all = Run(context, flags);
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
                     ".cpp, .cu or .py files, or folders with candidate.json; judged in order");
  command
      .add_option("--against", flags->against, "current best kernel, which is timed for comparison")
      ->type_name("FILE");
  command
      .add_option("--repeat", flags->repeat,
                  "evaluate each candidate N times on one warm reference")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command.add_flag("--sanitize", flags->sanitize,
                   "run sanitizers over a passed kernel, as optimize does for a new best");
  command.add_flag("--call", flags->call,
                   "also time calls of ModelNew, as export writes it, beside Model");
  command.add_flag("--no-timing", flags->no_timing, "checks only");
  command.add_flag("--no-compile-baseline", flags->no_compile_baseline,
                   "do not measure torch.compile");
  command.add_option("--request", flags->request, "read task, candidate and options from FILE")
      ->type_name("FILE");
  command.add_option("--result", flags->result, "also write the JSON object to FILE")
      ->type_name("FILE");
  command
      .add_option("--bundle", flags->bundle,
                  "write the evidence of a passed kernel to FILE, or into a folder")
      ->type_name("FILE");
  AddTuneFlags(command, flags->tune);
  command.add_flag("--no-serve", flags->no_serve, "do not use a running `pragma serve`");
  command
      .add_option("--socket", flags->socket, "where `pragma serve` listens (default: in --home)")
      ->type_name("PATH");
  flags->judging.AddTo(command);
  flags->judging.AddShapesTo(command);
  flags->judging.AddTargetTo(command);
  registry.actions[&command] = [flags](const Context& context) {
    return EvaluateCommand(context, *flags);
  };
}

}  // namespace pragma
