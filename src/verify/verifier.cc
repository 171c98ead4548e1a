#include "verify/verifier.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "harness/worker_process.h"
#include "machine/machine.h"
#include "task/torch_server.h"
#include "verify/candidate_audit.h"
#include "verify/candidate_build.h"
#include "verify/device_verifier.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/paper_timing.h"
#include "verify/sanitize.h"
#include "verify/stage.h"
#include "verify/timing_check.h"
#include "verify/value_check.h"
#include "verify/variant_bench.h"
#include "verify/variant_parts.h"

namespace pragma {

struct Verifier::Impl {
  TorchServer& server;
  const Builder& builder;
  const Jail& jail;
  Machine machine;
  VerifyOptions options;
  std::string header;
  std::vector<std::string> libraries;
  std::optional<Stage> stage;
  DeviceVerifier device;  // for candidates for a GPU
  std::optional<TaskBaseline> baseline;

  [[nodiscard]] const Task& task() const { return server.task(); }

  Result<void> Prepare() {
    if (libraries.empty()) libraries = TRY(WorkerLibraries(jail));
    if (stage) return {};
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
    const StageSize size = ChooseStageSize(task(), options.judging.cache,
                                           machine.last_level_cache_bytes(), options.check_sets);
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
            .run_limit = options.judging.run_limit};
  }

  // Builds the candidate. nullopt: it was rejected (the evaluation says why).
  Result<std::optional<BuiltKernel>> Build(const Candidate& candidate,
                                           Evaluation& evaluation) const {
    return BuildCandidate({server, builder, jail, header}, candidate, evaluation);
  }

  [[nodiscard]] JudgeParts Parts() {
    return {.stage = *stage,
            .jail = jail,
            .machine = machine,
            .libraries = libraries,
            .options = options,
            .worker = worker_options()};
  }

  // Builds and checks the candidate. nullopt: it did not build. The evaluation says whether it is
  // right.
  Result<std::optional<BuiltKernel>> BuildAndCheck(const Candidate& candidate, Judging& judging,
                                                   const Progress& progress) {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
    if (progress) progress("build");
    std::optional<BuiltKernel> built = TRY(Build(candidate, judging.evaluation));
    if (!built) return built;
    judging.DrawSecrets(options.seed);
    judging.kernel = &*built;
    TRY(CheckValues(Parts(), judging, progress));
    return built;
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
    if (!RunsOnProcessor(candidate.language)) {
      return device.Evaluate(candidate, best, measure, progress);
    }
    TRY(device.Settle());
    if (auto prepared = Prepare(); !prepared) return std::unexpected(prepared.error());
    judging.evaluation.environment = DescribeEnvironment(jail, server, machine, options);
    const std::optional<BuiltKernel> built = TRY(BuildAndCheck(candidate, judging, progress));
    judging.kernel = built ? &*built : nullptr;
    if (!judging.failed() && measure != Measure::kNothing) {
      std::optional<BuiltKernel> best_built;
      if (best != nullptr) {
        Evaluation ignored;
        best_built = TRY(Build(*best, ignored));
      }
      TRY(TimeKernel(Parts(), judging, best_built ? &*best_built : nullptr, baseline, progress));
      const Judges judges{.check = [&](Judging& again) -> Result<void> {
                            const MachineLock lock =
                                TRY(MachineLock::Take(MachineLock::Kind::kShared));
                            return CheckValues(Parts(), again, progress);
                          },
                          .time =
                              [&](Judging& again) {
                                return TimeKernel(Parts(), again, nullptr, baseline, progress);
                              }};
      if (!judging.failed()) TRY(AuditCandidate({task(), machine}, judges, judging, progress));
    }
    if (!judging.failed() && measure == Measure::kEagerAndCompile)
      TRY(TimeCompiled(Parts(), judging, baseline, progress));
    return std::move(judging.evaluation);
  }
};

Verifier::Verifier(TorchServer& server, const Builder& builder, const Jail& jail,
                   const Machine& machine, const VerifyOptions& options)
    : impl_(new Impl{.server = server,
                     .builder = builder,
                     .jail = jail,
                     .machine = machine,
                     .options = options,
                     .header = KernelHeader(server.task()),
                     .libraries = {},
                     .stage = {},
                     .device = DeviceVerifier(server, builder, jail, machine, options),
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

Result<void> Verifier::Settle() { return impl_->device.Settle(); }
std::optional<TaskBaseline> Verifier::baseline() const { return impl_->baseline; }
const Machine& Verifier::machine() const { return impl_->machine; }
void Verifier::set_baseline(const TaskBaseline& baseline) { impl_->baseline = baseline; }
void Verifier::set_seed(const std::optional<Seed>& seed) {
  impl_->options.seed = seed;
  impl_->device.set_seed(seed);
}

void Verifier::set_quick(bool quick) {
  const Seconds budget = quick ? kQuickBatteryBudget : VerifyOptions{}.battery_budget;
  impl_->options.battery_budget = budget;
  impl_->device.set_battery_budget(budget);
}

void Verifier::set_more_to_come(bool more) { impl_->device.set_more_to_come(more); }

}  // namespace pragma
