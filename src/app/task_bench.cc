#include "app/task_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/shaped_evaluation.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "lint/lint.h"
#include "machine/device_memory.h"
#include "machine/machine.h"
#include "profile/device_profiler.h"
#include "profile/profiler.h"
#include "profile/rules.h"
#include "profile/subject.h"
#include "sandbox/jail.h"
#include "store/store.h"
#include "task/shapes.h"
#include "task/torch_server.h"
#include "verify/options.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

// Time limit of the lint at the start of a run. `pragma lint` looks for longer.
constexpr Seconds kLintBeforeRun{20};
// Where time is short, the part of what is left that it may take. With less than the second it is
// skipped.
constexpr double kPartForLint = 0.1;
constexpr Seconds kLeastForLint{2};
// Where there is a deadline, a task with sets larger than this is not linted: each of its input
// sets takes seconds.
constexpr std::size_t kLargeForLint = std::size_t{256} << 20U;

Allocator AllocatorFrom(const nlohmann::json& name) {
  return name == "keep" ? Allocator::kKeep : Allocator::kDefault;
}

std::string BaselineText(const TaskBaseline& baseline) {
  nlohmann::json value = {{"eager", AllocatorName(baseline.eager)},
                          {"eager_ms", baseline.eager_ms}};
  if (baseline.compile) value["compile"] = AllocatorName(*baseline.compile);
  return value.dump();
}

std::optional<TaskBaseline> ReadBaseline(const std::string& text) {
  const auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object() || !value.contains("eager_ms") || !value["eager_ms"].is_number()) {
    return std::nullopt;
  }
  TaskBaseline baseline;
  baseline.eager = AllocatorFrom(value.value("eager", nlohmann::json()));
  baseline.eager_ms = value["eager_ms"].get<double>();
  if (value.contains("compile")) baseline.compile = AllocatorFrom(value["compile"]);
  return baseline;
}

std::optional<TimerMode> TimersFor(Measure most) {
  if (most == Measure::kNothing) return std::nullopt;
  return MeasuresCompile(most) ? TimerMode::kCompile : TimerMode::kEager;
}

// Starts the server. It computes while it reads the task, so nothing may be timed meanwhile.
Result<TorchServer> StartServer(const Jail& jail, const TorchServerOptions& options,
                                const std::filesystem::path& task) {
  std::optional<MachineLock> lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  std::optional<DeviceMemoryShare> share;
  const auto await_memory = [&](std::size_t bytes) -> Result<void> {
    lock.reset();  // another command may need it before it gives memory back
    share = TRY(DeviceMemoryShare::Take(SharedDeviceOf(*options.device, jail.program_dir()),
                                        std::min(bytes, options.device->memory_bytes)));
    lock = TRY(MachineLock::Take(MachineLock::Kind::kShared, options.device));
    return {};
  };
  return TorchServer::Start(jail, options, task, await_memory);
}

}  // namespace

TaskBench::TaskBench(Workbench& bench, TorchServer server, const VerifyOptions& options)
    : bench_(bench),
      server_(std::move(server)),
      header_(KernelHeader(server_.task())),
      options_(options) {
  verifier_.emplace(server_, bench.builder(), bench.jail(), bench.KnownMachine(), options);
}

Result<std::unique_ptr<TaskBench>> TaskBench::Open(Workbench& bench,
                                                   const std::filesystem::path& task,
                                                   const VerifyOptions& options, Measure most) {
  TorchServerOptions torch = bench.torch_options();
  torch.timers = TimersFor(most);
  torch.eval = options.judging.eval;
  torch.updates = options.judging.updates;
  torch.compile_mode = options.judging.compile_mode;
  TRY(MakeDirectories(torch.cache_dir));
  TorchServer server = TRY(StartServer(bench.jail(), torch, task));
  std::unique_ptr<TaskBench> opened(new TaskBench(bench, std::move(server), options));
  if (!options.judging.shapes.empty()) TRY(opened->OpenShapes(task, most));
  opened->LoadBaseline();
  opened->LoadLint();
  return opened;
}

// Opens a task of its own for each shape. Its text is the same with other numbers.
Result<void> TaskBench::OpenShapes(const std::filesystem::path& task, Measure most) {
  VerifyOptions single = options_;
  single.judging.shapes.clear();
  for (ShapeSet& set : TRY(ParseShapes(options_.judging.shapes, "shapes"))) {
    OtherShape& other = others_.emplace_back(
        OtherShape{.set = std::move(set), .file = TRY(TempDir::Create()), .bench = {}});
    const std::filesystem::path file = other.file.path() / task.filename();
    const std::string source = TRY(WithShape(this->task().source, other.set));
    TRY(WriteFileAtomic(file, source));
    Result<std::unique_ptr<TaskBench>> opened = Open(bench_, file, single, most);
    if (!opened) {
      return Fail(opened.error().kind, "with " + other.set.label() + ": " + opened.error().message);
    }
    other.bench = std::move(*opened);
  }
  return FindDims();
}

Result<void> TaskBench::FindDims() {
  std::vector<const Task*> tasks{&task()};
  std::vector<std::string> labels{kAsWritten};
  for (const OtherShape& other : others_) {
    tasks.push_back(&other.bench->task());
    labels.push_back(other.set.label());
  }
  std::vector<std::vector<VaryingSize>> dims = TRY(FindVaryingSizes(tasks, labels));
  for (std::size_t i = 0; i < others_.size(); ++i)
    others_[i].bench->SetDims(std::move(dims[i + 1]));
  SetDims(std::move(dims.front()));
  return {};
}

void TaskBench::SetDims(std::vector<VaryingSize> dims) {
  server_.NoteDims(std::move(dims));
  header_ = KernelHeader(server_.task());
  verifier_.emplace(server_, bench_.builder(), bench_.jail(), bench_.KnownMachine(), options_);
  LoadBaseline();
}

void TaskBench::set_quick(bool quick) {
  verifier_->set_quick(quick);
  for (const OtherShape& other : others_) other.bench->set_quick(quick);
}

void TaskBench::Refresh() {
  LoadBaseline();
  LoadLint();
  for (const OtherShape& other : others_) other.bench->Refresh();
}

Result<Evaluation> TaskBench::Evaluate(const Candidate& candidate, const Candidate* best,
                                       Measure measure, const Verifier::Progress& progress) {
  return others_.empty() ? EvaluateOne(candidate, best, measure, progress)
                         : EvaluateShapes(candidate, best, measure, progress);
}

Result<Evaluation> TaskBench::EvaluateOne(const Candidate& candidate, const Candidate* best,
                                          Measure measure, const Verifier::Progress& progress) {
  Result<Evaluation> evaluation = verifier_->Evaluate(candidate, best, measure, progress);
  SaveBaseline();
  bench_.KeepFigures(verifier_->machine());
  return evaluation;
}

// Evaluates on the task as written first. The first shape that fails decides the verdict.
Result<Evaluation> TaskBench::EvaluateShapes(const Candidate& candidate, const Candidate* best,
                                             Measure measure, const Verifier::Progress& progress) {
  const auto within = [&](std::size_t shape) {
    return [&progress, shape, all = others_.size() + 1](std::string_view phase) {
      if (progress) progress(fmt::format("shape {}/{}: {}", shape, all, phase));
    };
  };
  ShapedEvaluation all(TRY(EvaluateOne(candidate, best, measure, within(1))));
  for (std::size_t i = 0; i < others_.size() && all.passed(); ++i) {
    OtherShape& other = others_[i];
    // All shapes' seeds are derived from the one seed that is recorded.
    const Result<Seed> seed = SeedFromHex(all.seed());
    if (seed) other.bench->set_seed(DeriveSeed(*seed, fmt::format("shape {}", i)));
    all.Add(other.set, TRY(other.bench->EvaluateOne(candidate, best, measure, within(i + 2))));
  }
  return std::move(all).Take();
}

std::string TaskBench::BaselineKey() const {
  const Machine& machine = bench_.machine();
  const std::string& mode = options_.judging.compile_mode;
  return fmt::format(
      "baseline/{}/{}/{}/{}/{}{}{}{}", task().sha256, machine.fingerprint, machine.threads,
      server_.torch_version(), CacheStateName(options_.judging.cache),
      machine.device ? "/" + machine.device->name : std::string(), task().training ? "" : "/eval",
      mode == JudgingOptions{}.compile_mode ? "" : "/" + mode);
}

Result<void> TaskBench::Sanitize(const Candidate& candidate, Evaluation& evaluation,
                                 const Verifier::Progress& progress) {
  return verifier_->Sanitize(candidate, evaluation, progress);
}

Result<Profile> TaskBench::ProfileOf(const Candidate& candidate, const Evaluation& evaluation,
                                     const Verifier::Progress& progress, const ProfileWish& wish) {
  TRY(verifier_->Settle());  // the profile's inputs come from the same server
  const bool cpu = RunsOnProcessor(candidate.language);
  const RuleSet rules = TRY(bench_.RulesFor(candidate.language));
  if (candidate.language == Language::kTriton)
    return ProfileForDevice({candidate, nullptr, evaluation, wish}, rules, progress);
  const BuildOutcome built =
      TRY(bench_.builder().Build(candidate, cpu ? header_ : CudaKernelHeader(task())));
  const auto* kernel = std::get_if<BuiltKernel>(&built);
  if (kernel == nullptr) return Fail("a kernel that passed cannot be built again");
  if (!cpu) return ProfileForDevice({candidate, kernel, evaluation, wish}, rules, progress);
  Toolchains toolchains;
  const ProfileSubject subject{.jail = bench_.jail(),
                               .machine = bench_.machine(),
                               .server = server_,
                               .candidate = candidate,
                               .kernel = *kernel,
                               .kernel_header = header_,
                               .toolchains = toolchains,
                               .time_ms = evaluation.timing ? evaluation.timing->ms.median : 0,
                               .tools = wish.tools};
  return ProfileKernel(subject, rules, progress);
}

Result<Profile> TaskBench::ProfileForDevice(const DeviceProfileWish& wish, const RuleSet& rules,
                                            const Verifier::Progress& progress) {
  if (!bench_.machine().device) {
    return Fail(ErrorKind::kUnavailable,
                "no GPU was found to profile the candidate on; pragma doctor says why");
  }
  const Evaluation& evaluation = wish.evaluation;
  const DeviceSubject subject{
      .jail = bench_.jail(),
      .machine = bench_.machine(),
      .server = server_,
      .candidate = wish.candidate,
      .kernel = wish.kernel,
      .adapters = bench_.knowledge() / "adapters",
      .tools = wish.wish.tools,
      .time_ms = evaluation.timing ? evaluation.timing->ms.median : 0,
      .data = evaluation.environment.cache == CacheStateName(CacheState::kWarm)
                  ? DeviceData::kInCache
                  : DeviceData::kInMemory,
      .counters = wish.wish.full ? CounterSet::kFull : CounterSet::kDefault};
  return ProfileOnDevice(subject, rules, progress);
}

// The version in the key is raised when decoys, rules or batteries change.
std::string TaskBench::LintKey() const {
  return "lint/2/" + task().sha256 + (task().training ? "" : "/eval");
}

void TaskBench::LoadLint() {
  const Result<std::optional<std::string>> kept = bench_.store().GetFigure(LintKey());
  if (!kept || !*kept) return;
  const auto value = nlohmann::json::parse(**kept, nullptr, /*allow_exceptions=*/false);
  if (value.is_object()) server_.NoteLint(value.value("verdict", ""));
}

void TaskBench::KeepLint(const LintReport& report) {
  server_.NoteLint(std::string(LintVerdictName(report.verdict)));
  const nlohmann::json value = {{"verdict", LintVerdictName(report.verdict)},
                                {"summary", report.Summary()}};
  const Result<void> saved = bench_.store().PutFigure(LintKey(), value.dump());
  if (!saved) Log(LogLevel::kWarning, "the task's lint is not kept: " + saved.error().message);
}

Result<void> TaskBench::EnsureLint(const VerifyProgress& progress) {
  if (!task().lint.empty()) return {};
  const Seconds budget = std::min(kLintBeforeRun, options_.deadline.Left() * kPartForLint);
  const bool large = options_.deadline.given() && task().set_bytes() > kLargeForLint;
  if (large || budget < kLeastForLint) {
    Log(LogLevel::kInfo,
        "no time to see whether the task can tell a wrong kernel from a right "
        "one: pragma lint looks");
    return {};
  }
  const LintReport report = TRY(LintTask(server_, {.budget = budget}, progress));
  KeepLint(report);
  if (report.verdict != LintVerdict::kSound)
    Log(LogLevel::kWarning, task().name + " is " + report.Summary());
  return {};
}

void TaskBench::LoadBaseline() {
  const Result<std::optional<std::string>> kept = bench_.store().GetFigure(BaselineKey());
  if (!kept || !*kept) return;
  kept_ = **kept;
  if (const std::optional<TaskBaseline> baseline = ReadBaseline(kept_))
    verifier_->set_baseline(*baseline);
}

void TaskBench::SaveBaseline() {
  const std::optional<TaskBaseline> baseline = verifier_->baseline();
  if (!baseline) return;
  const std::string text = BaselineText(*baseline);
  if (text == kept_) return;
  kept_ = text;
  const Result<void> saved = bench_.store().PutFigure(BaselineKey(), text);
  if (!saved) Log(LogLevel::kWarning, "the task's baseline is not kept: " + saved.error().message);
}

}  // namespace pragma
