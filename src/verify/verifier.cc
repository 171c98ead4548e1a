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
#include "verify/candidate_build.h"
#include "verify/device_bench.h"
#include "verify/evaluate.h"
#include "verify/executor.h"
#include "verify/host_calls.h"
#include "verify/host_executor.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/paper_timing.h"
#include "verify/sanitize.h"
#include "verify/shared_card.h"
#include "verify/stage.h"

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
  DeviceBench device;  // for candidates for a GPU
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
    stage.emplace(TRY(Stage::Create(server, size)));
    return {};
  }

  [[nodiscard]] WorkerOptions worker_options() const {
    return {.threads = machine.threads,
            .memory_allowance_bytes = options.memory_allowance_bytes,
            .run_limit = options.judging.run_limit};
  }

  [[nodiscard]] BuildParts build_parts() const { return {server, builder, jail, header}; }
  [[nodiscard]] HostParts Parts() {
    return {.stage = *stage,
            .jail = jail,
            .machine = machine,
            .libraries = libraries,
            .options = options,
            .worker = worker_options()};
  }

  // Builds a candidate that passed.
  Result<BuiltKernel> Rebuild(const Candidate& candidate) const {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
    Evaluation ignored;
    std::optional<BuiltKernel> built = TRY(BuildCandidate(build_parts(), candidate, ignored));
    if (!built) return Fail("the candidate passed, and now it does not build: " + ignored.reason);
    return std::move(*built);
  }

  Result<Evaluation> EvaluateOnDevice(const Candidate& candidate, const EvaluationWish& wish,
                                      const Progress& progress) {
    std::unique_ptr<Executor> executor = TRY(device.Open(candidate.language, wish.measure));
    Evaluation evaluation = TRY(EvaluateOn(*executor, candidate, wish, progress));
    device.Close(std::move(executor), wish.measure);
    return evaluation;
  }

  Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best, Measure measure,
                              const Progress& progress) {
    if (task().random) {
      return Evaluation{.status = Status::kUnsupported,
                        .reason =
                            "the task draws random numbers in forward (live dropout); its "
                            "output cannot be checked"};
    }
    const EvaluationWish wish{.best = best, .measure = measure};
    if (!RunsOnProcessor(candidate.language)) {
      return JudgeOnSharedCard(
          {.judge = [&] { return EvaluateOnDevice(candidate, wish, progress); },
           .has_neighbour = [this] { return device.HasNeighbour(); },
           .make_room = [this] { return device.StartAnew(); }});
    }
    TRY(device.Settle());
    TRY(Prepare());
    HostExecutor executor(Parts(), build_parts(), baseline);
    return EvaluateOn(executor, candidate, wish, progress);
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
                     .device = DeviceBench(server, builder, jail, machine, options),
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
  const BuiltKernel kernel = TRY(impl_->Rebuild(candidate));
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  const SanitizeParts parts{.server = impl_->server,
                            .jail = impl_->jail,
                            .kernel_header = impl_->header,
                            .threads = impl_->machine.threads};
  return SanitizeKernel(parts, candidate, kernel, evaluation, progress);
}

Result<VariantParts> Verifier::Variants() {
  TRY(impl_->Prepare());
  return VariantParts{
      .host = impl_->Parts(), .builder = impl_->builder, .kernel_header = impl_->header};
}

Result<PaperTiming> Verifier::TimeByPaper(const Candidate* candidate, bool compile,
                                          const Progress& progress) {
  TRY(impl_->Prepare());
  std::optional<BuiltKernel> kernel;
  if (candidate != nullptr) kernel = TRY(impl_->Rebuild(*candidate));
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  if (progress) progress("time by the paper's protocol");
  Rng rng(impl_->options.seed.value_or(SystemSeed()));
  return pragma::TimeByPaper(impl_->Parts(),
                             {.kernel = kernel ? &*kernel : nullptr, .compile = compile}, rng);
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
