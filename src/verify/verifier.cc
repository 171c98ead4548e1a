#include "verify/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "harness/worker_process.h"
#include "harness/worker_zygote.h"
#include "machine/machine.h"
#include "task/torch_server.h"
#include "verify/bounds.h"
#include "verify/device_check.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/device_timing.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/paper_timing.h"
#include "verify/python_kernel.h"
#include "verify/sanitize.h"
#include "verify/stage.h"
#include "verify/timing_check.h"
#include "verify/value_check.h"
#include "verify/variant_bench.h"
#include "verify/variant_parts.h"

namespace pragma {
namespace {

// So much faster than eager, or so near to the bound, is audited: everything once more, with new
// seeds in fresh processes.
constexpr double kAuditedSpeedup = 10;
constexpr double kAuditedShareOfBound = 0.8;
// Two honest measurements of one kernel differ by less.
constexpr double kAuditAgreement = 1.25;
// With fewer processors a module's imports would disturb what is timed meanwhile.
constexpr int kProcessorsToSpare = 4;

// How a candidate is checked and timed once more.
struct Judges {
  std::function<Result<void>(Judging&)> check;
  std::function<Result<void>(Judging&)> time;
};

}  // namespace

struct Verifier::Impl {
  TorchServer& server;
  const Builder& builder;
  const Jail& jail;
  Machine machine;
  VerifyOptions options;
  std::string header;
  std::vector<std::string> libraries;
  std::optional<Stage> stage;
  std::optional<DeviceStage> device_stage;  // of Triton modules
  // For the next of them, started ahead.
  std::optional<WorkerZygote> spare;
  std::optional<DeviceSide> eager;
  std::optional<DeviceSide> compile;
  std::optional<TaskBaseline> baseline;

  [[nodiscard]] const Task& task() const { return server.task(); }

  Result<void> Prepare() {
    if (libraries.empty()) libraries = TRY(WorkerLibraries(jail));
    if (stage) return {};
    const StageSize size = ChooseStageSize(task(), options.cache, machine.last_level_cache_bytes(),
                                           options.check_sets);
    if (const std::size_t needed = StageBytes(task(), size); needed > machine.memory_bytes) {
      return Fail(ErrorKind::kTask,
                  fmt::format("{} needs {} to be judged and this machine has {}", task().name,
                              FormatBytes(static_cast<double>(needed)),
                              FormatBytes(static_cast<double>(machine.memory_bytes))));
    }
    stage = TRY(Stage::Create(server, size));
    return {};
  }

  [[nodiscard]] WorkerOptions worker_options() const {
    return {.threads = machine.threads,
            .memory_allowance_bytes = options.memory_allowance_bytes,
            .run_limit = options.run_limit};
  }

  Environment DescribeEnvironment() const {
    std::vector<std::string> protections = jail.protections();
    protections.emplace_back("seccomp");  // the worker's own two filters, with or without a jail
    return {.cpu = machine.cpu,
            .torch = server.torch_version(),
            .allocator = "",  // once the baseline is known
            .cache = options.cache == CacheState::kWarm ? "warm" : "cold",
            .threads = machine.threads,
            .protections = std::move(protections),
            .trust = jail.unsafe() ? "none (unsafe-no-sandbox)" : "isolated"};
  }

  Environment DescribeDevice() const {
    Environment environment = DescribeEnvironment();
    if (!jail.unsafe()) environment.trust = kTritonTrust;
    if (!machine.device) return environment;
    const CacheState cache = DeviceCache(task(), device_stage->size(), machine);
    environment.cache = cache == CacheState::kWarm ? "warm" : "cold";
    environment.device = machine.device->name + ", driver " + machine.device->driver;
    environment.precision = "fp32";
    return environment;
  }

  // Builds; nullopt when the candidate was turned away (the evaluation says why).
  Result<std::optional<BuiltKernel>> Build(const Candidate& candidate,
                                           Evaluation& evaluation) const {
    const PhaseTimer timer(evaluation, "build");
    const bool triton = candidate.language == Language::kTriton;
    const bool python = candidate.language == Language::kPython;
    if (python && !jail.unsafe()) evaluation.environment.trust = kPythonTrust;
    BuildOutcome outcome = TRY(triton   ? LookAtModule(server, jail, candidate)
                               : python ? MakePythonKernel(server, jail, candidate)
                                        : builder.Build(candidate, header));
    if (auto* failure = std::get_if<BuildFailure>(&outcome)) {
      evaluation.status = failure->status;
      evaluation.reason = failure->reason;
      evaluation.diagnostics = std::move(failure->diagnostics);
      evaluation.log = std::move(failure->log);
      evaluation.checks = std::move(failure->checks);
      return std::optional<BuiltKernel>();
    }
    auto& built = std::get<BuiltKernel>(outcome);
    evaluation.checks = built.checks;
    evaluation.environment.compiler = built.compiler;
    evaluation.object_sha256 = built.sha256;
    evaluation.prepacked = built.has_prepare;
    return std::optional(std::move(built));
  }

  [[nodiscard]] JudgeParts Parts() {
    return {.stage = *stage,
            .jail = jail,
            .machine = machine,
            .libraries = libraries,
            .options = options,
            .worker = worker_options()};
  }

  // Whether what was measured asks for a second look, and why.
  [[nodiscard]] std::string Suspicion(const Evaluation& evaluation) const {
    if (evaluation.speedup_eager && evaluation.speedup_eager->median > kAuditedSpeedup)
      return fmt::format("{:.1f} times as fast as eager", evaluation.speedup_eager->median);
    const double measured = evaluation.timing->ms.median;
    if (evaluation.lower_bound_ms && *evaluation.lower_bound_ms > kAuditedShareOfBound * measured)
      return fmt::format("{:.0f} % of the hard bound", 100 * *evaluation.lower_bound_ms / measured);
    if (SoftBoundMs(task(), machine) > measured) return "fewer operations than the task as written";
    return {};
  }

  // Checks and times once more with a seed of its own; the slower of the two results stands.
  Result<void> Audit(Judging& judging, const Judges& judges, const Progress& progress) {
    Evaluation& evaluation = judging.evaluation;
    const std::string why = Suspicion(evaluation);
    if (why.empty()) return {};
    if (progress) progress("audit");
    Judging again{.evaluation = {.status = Status::kPassed},
                  .kernel = judging.kernel,
                  .drop_in = judging.drop_in,
                  .seed = DeriveSeed(judging.seed, "audit")};
    again.rng = Rng(again.seed);
    {
      const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
      TRY(judges.check(again));
    }
    if (!again.failed()) TRY(judges.time(again));
    for (const auto& [phase, ms] : again.evaluation.phases_ms) evaluation.phases_ms["audit"] += ms;
    if (again.failed()) {
      judging.Note("audit", "fail", why);
      judging.Reject(again.evaluation.status,
                     "failed its audit (" + why + "): " + again.evaluation.reason);
      if (again.evaluation.error) evaluation.error = again.evaluation.error;
      return {};
    }
    KeepSlower(judging, again.evaluation, why);
    return {};
  }

  static void KeepSlower(Judging& judging, const Evaluation& again, const std::string& why) {
    Evaluation& evaluation = judging.evaluation;
    const double first = evaluation.speedup_eager->median;
    const double second = again.speedup_eager->median;
    const bool agree = std::max(first, second) <= kAuditAgreement * std::min(first, second);
    judging.Note("audit", agree ? "pass" : "note",
                 fmt::format("{}; with new seeds {:.2f} times as fast as eager, before {:.2f}", why,
                             second, first));
    if (agree || second >= first) return;
    evaluation.timing = again.timing;
    evaluation.eager = again.eager;
    evaluation.speedup_eager = again.speedup_eager;
    evaluation.samples = again.samples;
  }

  // Builds and checks; true when the candidate is right.
  Result<std::optional<BuiltKernel>> BuildAndCheck(const Candidate& candidate, Judging& judging,
                                                   const Progress& progress) {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
    if (progress) progress("build");
    std::optional<BuiltKernel> built = TRY(Build(candidate, judging.evaluation));
    if (!built) return built;
    DrawSecrets(judging);
    judging.kernel = &*built;
    TRY(CheckValues(Parts(), judging, progress));
    return built;
  }

  // Only once the binary, or the source that is run, is fixed.
  void DrawSecrets(Judging& judging) const {
    judging.seed = options.seed.value_or(SystemSeed());
    judging.evaluation.seed = SeedToHex(judging.seed);
    judging.rng = Rng(judging.seed);
  }

  // --- Triton modules ---

  Result<void> PrepareDevice() {
    if (device_stage) return {};
    spare = TRY(StartZygote());  // beside the device's own start
    device_stage = TRY(DeviceStage::Create(server, DeviceStageSize(task(), options, machine)));
    return {};
  }

  Result<WorkerZygote> StartZygote() const {
    JailSpec spec = TRY(server.TritonJail());
    return WorkerZygote::Start(jail, std::move(spec), worker_options());
  }

  // The one that was started ahead, and the next one started.
  Result<WorkerZygote> TakeZygote() {
    WorkerZygote taken = spare ? std::move(*spare) : TRY(StartZygote());
    spare.reset();
    if (machine.threads >= kProcessorsToSpare) spare = TRY(StartZygote());
    return taken;
  }

  // Torch's processes for a session. Loaded and never used, they are as fresh as new ones.
  Result<void> StartTorch(Measure measure) {
    if (!machine.device || measure == Measure::kNothing) return {};
    if (!eager) eager = TRY(DeviceSide::OfTorch(*device_stage, TimerMode::kEager));
    if (compile || measure != Measure::kEagerAndCompile) return {};
    compile = TRY(DeviceSide::OfTorch(*device_stage, TimerMode::kCompile));
    return {};
  }

  [[nodiscard]] DeviceParts ModuleParts(WorkerZygote& zygote) {
    return {.stage = *device_stage,
            .zygote = zygote,
            .machine = machine,
            .options = options,
            .worker = worker_options()};
  }

  Result<Evaluation> EvaluateModule(const Candidate& candidate, const Candidate* best,
                                    Measure measure, const Progress& progress) {
    Judging judging{.evaluation = {.status = Status::kPassed}};
    TRY(PrepareDevice());
    if (!machine.device) measure = Measure::kNothing;
    judging.evaluation.environment = DescribeDevice();
    WorkerZygote zygote = TRY(TakeZygote());
    zygote.SetModule(candidate.source());
    std::optional<WorkerZygote> champion;
    if (best != nullptr && measure != Measure::kNothing) {
      champion = TRY(StartZygote());
      champion->SetModule(best->source());
    }
    std::optional<DeviceSide> side;  // loads while the checks are made, as Torch's do
    DeviceParts parts = ModuleParts(zygote);
    const auto start_side = [&](WorkerZygote& of, DeviceArea area) {
      return DeviceSide::OfModule(*device_stage, of, parts.worker, area);
    };
    {
      const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
      if (progress) progress("build");
      if (!TRY(Build(candidate, judging.evaluation))) return std::move(judging.evaluation);
      DrawSecrets(judging);
      if (measure != Measure::kNothing) {
        parts.once_loaded = [&]() -> Result<void> {
          side = TRY(start_side(zygote, DeviceArea::kCandidate));
          return StartTorch(measure);
        };
      }
      TRY(CheckOnDevice(parts, judging, progress));
      parts.once_loaded = {};
    }
    if (!machine.device && !judging.failed()) {
      judging.Note("timing", "skipped", "no GPU: checks only, in Triton's interpreter");
    }
    if (judging.failed() || measure == Measure::kNothing) return std::move(judging.evaluation);
    const MakeSides make_sides = [&]() -> Result<std::vector<DeviceSide>> {
      TRY(StartTorch(measure));
      if (!side) side = TRY(start_side(zygote, DeviceArea::kCandidate));
      std::vector<DeviceSide> sides;
      sides.push_back(std::move(*std::exchange(side, std::nullopt)));
      sides.push_back(std::move(*std::exchange(eager, std::nullopt)));
      if (compile) sides.push_back(std::move(*std::exchange(compile, std::nullopt)));
      if (champion) sides.push_back(TRY(start_side(*champion, DeviceArea::kBest)));
      return sides;
    };
    TRY(TimeOnDevice(parts, judging, make_sides, progress));
    const Judges judges{
        .check = [&](Judging& again) { return CheckOnDevice(parts, again, progress); },
        .time = [&](Judging& again) { return TimeOnDevice(parts, again, make_sides, progress); }};
    if (!judging.failed()) TRY(Audit(judging, judges, progress));
    TRY(StartTorch(measure));  // for the next one, while its author thinks
    return std::move(judging.evaluation);
  }

  Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best, Measure measure,
                              const Progress& progress) {
    Judging judging{.evaluation = {.status = Status::kPassed},
                    .drop_in = measure == Measure::kDropIn};
    if (task().random) {
      judging.Reject(
          Status::kUnsupported,
          "the task draws random numbers in forward (live dropout); its output cannot be checked");
      return std::move(judging.evaluation);
    }
    if (candidate.language == Language::kTriton) {
      return EvaluateModule(candidate, best, measure, progress);
    }
    if (auto prepared = Prepare(); !prepared) return std::unexpected(prepared.error());
    judging.evaluation.environment = DescribeEnvironment();
    const std::optional<BuiltKernel> built = TRY(BuildAndCheck(candidate, judging, progress));
    judging.kernel = built ? &*built : nullptr;
    if (!judging.failed() && measure != Measure::kNothing) {
      std::optional<BuiltKernel> best_built;
      if (best != nullptr) {
        Evaluation ignored;
        best_built = TRY(Build(*best, ignored));
      }
      TRY(TimeKernel(Parts(), judging, best_built ? &*best_built : nullptr, baseline, progress));
      const Judges judges{
          .check = [&](Judging& again) { return CheckValues(Parts(), again, progress); },
          .time =
              [&](Judging& again) {
                return TimeKernel(Parts(), again, nullptr, baseline, progress);
              }};
      if (!judging.failed()) TRY(Audit(judging, judges, progress));
    }
    if (!judging.failed() && measure == Measure::kEagerAndCompile)
      TRY(TimeCompiled(Parts(), judging, baseline, progress));
    return std::move(judging.evaluation);
  }
};

Verifier::Verifier(TorchServer& server, const Builder& builder, const Jail& jail, Machine machine,
                   VerifyOptions options)
    : impl_(new Impl{.server = server,
                     .builder = builder,
                     .jail = jail,
                     .machine = std::move(machine),
                     .options = std::move(options),
                     .header = KernelHeader(server.task()),
                     .libraries = {},
                     .stage = {},
                     .device_stage = {},
                     .spare = {},
                     .eager = {},
                     .compile = {},
                     .baseline = {}}) {}
Verifier::Verifier(Verifier&&) noexcept = default;
Verifier::~Verifier() = default;

Result<Evaluation> Verifier::Evaluate(const Candidate& candidate, const Candidate* best,
                                      Measure measure, const Progress& progress) {
  return impl_->Evaluate(candidate, best, measure, progress);
}

Result<void> Verifier::Sanitize(const Candidate& candidate, Evaluation& evaluation,
                                const Progress& progress) {
  if (candidate.language != Language::kCpp || !evaluation.passed()) return {};
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  Evaluation ignored;
  const std::optional<BuiltKernel> kernel = TRY(impl_->Build(candidate, ignored));
  if (!kernel) return Fail("the candidate passed, and now it does not build: " + ignored.reason);
  const SanitizeParts parts{.server = impl_->server,
                            .jail = impl_->jail,
                            .kernel_header = impl_->header,
                            .threads = impl_->machine.threads};
  return SanitizeKernel(parts, candidate, *kernel, evaluation, progress);
}

Result<VariantBench> Verifier::OpenVariants() {
  TRY(impl_->Prepare());
  return MakeVariantBench(impl_->Parts(), impl_->builder, impl_->header);
}

Result<PaperTiming> Verifier::TimeByPaper(const Candidate* candidate, bool compile,
                                          const Progress& progress) {
  TRY(impl_->Prepare());
  std::optional<BuiltKernel> kernel;
  if (candidate != nullptr) {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
    Evaluation ignored;
    kernel = TRY(impl_->Build(*candidate, ignored));
    if (!kernel) return Fail("the candidate passed, and now it does not build: " + ignored.reason);
  }
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  if (progress) progress("time by the paper's protocol");
  const TimingContext context{.stage = &*impl_->stage,
                              .jail = &impl_->jail,
                              .libraries = &impl_->libraries,
                              .worker = impl_->worker_options()};
  Rng rng(impl_->options.seed.value_or(SystemSeed()));
  return pragma::TimeByPaper(context, {.kernel = kernel ? &*kernel : nullptr, .compile = compile},
                             rng);
}

std::optional<TaskBaseline> Verifier::baseline() const { return impl_->baseline; }
const Machine& Verifier::machine() const { return impl_->machine; }
void Verifier::set_baseline(const TaskBaseline& baseline) { impl_->baseline = baseline; }
void Verifier::set_seed(const std::optional<Seed>& seed) { impl_->options.seed = seed; }

}  // namespace pragma
