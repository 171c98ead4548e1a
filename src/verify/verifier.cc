#include "verify/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
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
#include "verify/bounds.h"
#include "verify/stage.h"
#include "verify/timing_session.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

// Faster than this share of the hard bound cannot be.
constexpr double kImplausibleShare = 0.9;
// A burst visits each set of the ring once.
constexpr double kMostCallsInBurst = PRAGMA_MAX_SETS;
constexpr std::size_t kSlotsForUpkeep = 4;
// For the plan: the doorbell's cost cannot be told from a shorter call.
constexpr double kShortestCallSeconds = 1e-6;
constexpr double kForever = 1e9;

// Adds the time since construction to a phase of an evaluation.
class PhaseTimer final {
 public:
  PhaseTimer(Evaluation& evaluation, std::string phase)
      : evaluation_(evaluation),
        phase_(std::move(phase)),
        start_(std::chrono::steady_clock::now()) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() {
    evaluation_.phases_ms[phase_] +=
        Seconds(std::chrono::steady_clock::now() - start_).count() * 1e3;
  }

 private:
  Evaluation& evaluation_;
  std::string phase_;
  TimePoint start_;
};

void Reject(Evaluation& evaluation, Status status, std::string reason) {
  evaluation.status = status;
  evaluation.reason = std::move(reason);
}

void Reject(Evaluation& evaluation, const WorkerFailure& failure) {
  Reject(evaluation, failure.status, failure.reason);
  evaluation.log = failure.log;
}

std::string_view AllocatorName(Allocator allocator) {
  return allocator == Allocator::kDefault ? "default" : "keep";
}

// Replaces what an earlier attempt at the same session left.
void KeepSamples(Evaluation& evaluation, const std::string& session, const std::vector<Side>& sides,
                 const TimingOutcome& outcome) {
  std::erase_if(evaluation.samples, [&](const RawSamples& old) { return old.session == session; });
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::string setting =
        sides[i].kernel != nullptr ? "" : fmt::format(" ({})", AllocatorName(sides[i].allocator));
    evaluation.samples.push_back({.session = session,
                                  .side = sides[i].name + setting,
                                  .doorbell_us = outcome.sides[i].doorbell_us,
                                  .seconds = outcome.sides[i].seconds});
  }
}

Timing ToTiming(const SideTiming& side, int threads, const TimingPlan& plan) {
  return {.ms = side.Milliseconds(),
          .samples = side.samples,
          .processes = side.seconds.size(),
          .method = fmt::format("paired bursts of {} calls after {} of warm-up, {} bursts in each "
                                "of {} processes, 95 % t interval",
                                plan.timed, plan.warmup, plan.bursts, plan.processes),
          .threads = threads,
          .doorbell_us = side.doorbell_us};
}

}  // namespace

struct Verifier::Impl {
  TorchServer& server;
  const Builder& builder;
  const Jail& jail;
  const Machine& machine;
  VerifyOptions options;
  std::string header;
  std::vector<std::string> libraries;
  std::optional<Stage> stage;
  std::optional<TaskBaseline> baseline;

  // One evaluation in progress.
  struct Judging {
    Evaluation evaluation;
    const BuiltKernel* kernel = nullptr;
    Rng rng;
    double run_seconds = kForever;    // the shortest checked call
    double empty_seconds = kForever;  // the shortest round without one
    double compare_seconds = 0;       // of one slot
    double upkeep_seconds = 0;        // refill, expected values and comparison of one timed call
    // One call, as far as it is known before it is timed.
    [[nodiscard]] double call_seconds() const {
      return std::max(run_seconds - empty_seconds, kShortestCallSeconds);
    }
    [[nodiscard]] bool failed() const { return evaluation.status != Status::kPassed; }
  };

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
            .allocator = std::string(baseline ? AllocatorName(baseline->eager) : ""),
            .cache = options.cache == CacheState::kWarm ? "warm" : "cold",
            .threads = machine.threads,
            .protections = std::move(protections),
            .trust = jail.unsafe() ? "none (unsafe-no-sandbox)" : "isolated"};
  }

  // Builds; nullopt when the candidate was turned away (the evaluation says why).
  Result<std::optional<BuiltKernel>> Build(const Candidate& candidate,
                                           Evaluation& evaluation) const {
    const PhaseTimer timer(evaluation, "build");
    BuildOutcome outcome = TRY(builder.Build(candidate, header));
    if (auto* failure = std::get_if<BuildFailure>(&outcome)) {
      Reject(evaluation, failure->status, failure->reason);
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

  Result<void> CheckValues(Judging& judging, const Progress& progress) {
    std::optional<WorkerProcess> worker;
    {
      const PhaseTimer timer(judging.evaluation, "load");
      worker = TRY(WorkerProcess::Start(jail, libraries, *judging.kernel, task(), stage->ring(),
                                        worker_options()));
      if (auto failure = TRY(worker->Load())) {
        Reject(judging.evaluation, *failure);
        return {};
      }
    }
    const PhaseTimer timer(judging.evaluation, "verify");
    stage->ForgetTolerances();
    bool official = true;
    for (int i = 0; i < options.check_sets && !judging.failed(); ++i) {
      if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
      if (progress) progress(fmt::format("check {}/{}", i + 1, options.check_sets));
      official = TRY(CheckOne(judging, *worker, i)) && official;
    }
    if (judging.evaluation.error) judging.evaluation.official_correct = official;
    if (!judging.failed()) {
      judging.evaluation.checks.push_back(
          {"values", "pass", fmt::format("{} input sets against fp64", options.check_sets)});
      judging.evaluation.checks.push_back(
          {"guards", "pass", "nothing written outside the outputs"});
    }
    return {};
  }

  // One secret input set. Returns KernelBench's verdict on it.
  Result<bool> CheckOne(Judging& judging, WorkerProcess& worker, int index) {
    const auto slot =
        static_cast<std::uint32_t>(static_cast<std::size_t>(index) % stage->ring().sets());
    const std::vector<std::uint32_t> sets{slot};
    TRY(stage->DrawSet(static_cast<std::size_t>(index), judging.rng() >> 1U, slot));
    worker.Poison(judging.rng, sets);
    Nanoseconds prepare{0};
    Nanoseconds elapsed{0};
    Nanoseconds doorbell{0};
    std::optional<WorkerFailure> failure;
    if (judging.kernel->has_prepare) failure = TRY(worker.Prepare(sets, &prepare));
    if (!failure) failure = TRY(worker.Run(sets, &elapsed));
    if (!failure) failure = TRY(worker.RunEmpty(sets, &doorbell));
    if (failure) {
      Reject(judging.evaluation, *failure);
      return false;
    }
    if (judging.kernel->has_prepare) judging.evaluation.prepare_ms = Seconds(prepare).count() * 1e3;
    judging.run_seconds = std::min(judging.run_seconds, Seconds(elapsed).count());
    judging.empty_seconds = std::min(judging.empty_seconds, Seconds(doorbell).count());
    return CompareOne(judging, worker, slot, index);
  }

  bool CompareOne(Judging& judging, const WorkerProcess& worker, std::uint32_t slot, int index) {
    Evaluation& evaluation = judging.evaluation;
    if (const auto broken = worker.BrokenGuard(slot)) {
      evaluation.checks.push_back({"guards", "fail", *broken});
      Reject(evaluation, Status::kCrashed, "wrote outside its output " + *broken);
      return false;
    }
    const bool official = stage->Official(worker, slot);
    const TimePoint before = std::chrono::steady_clock::now();
    const Comparison compared = stage->CompareSlot(worker, slot);
    judging.compare_seconds = Seconds(std::chrono::steady_clock::now() - before).count();
    const bool fine = options.mode == CheckMode::kOfficial ? official : compared.ok;
    const bool worst = !evaluation.error || compared.error.rel_l2 > evaluation.error->rel_l2;
    if (worst || !fine) evaluation.error = compared.error;
    if (!fine) {
      evaluation.checks.push_back({"values", "fail", fmt::format("input set {}", index + 1)});
      Reject(evaluation, Status::kWrongValues,
             compared.ok ? "differs from Torch by more than KernelBench allows" : compared.reason);
    }
    return official;
  }

  TimingContext Context(const Progress& progress) {
    return {.stage = &*stage,
            .jail = &jail,
            .libraries = &libraries,
            .worker = worker_options(),
            .progress = [&progress](int process, int processes) {
              if (progress) progress(fmt::format("time {}/{}", process, processes));
            }};
  }

  [[nodiscard]] TimingPlan Plan(const Judging& judging, double round, Seconds budget) const {
    return MakePlan({.sets = stage->ring().sets(),
                     .round_seconds = round,
                     .upkeep_seconds = judging.upkeep_seconds,
                     .cache = options.cache},
                    budget);
  }

  // Refills some slots for nothing, to see what it takes; the first time warms the reference up.
  Result<void> MeasureUpkeep(Judging& judging) {
    TRY(stage->RenewSet(0, judging.rng));
    const std::size_t slots = std::min(stage->ring().sets(), kSlotsForUpkeep);
    const TimePoint before = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < slots; ++i) TRY(stage->RenewSet(i, judging.rng));
    const double all = Seconds(std::chrono::steady_clock::now() - before).count();
    judging.upkeep_seconds = all / static_cast<double>(slots) + 2 * judging.compare_seconds;
    return {};
  }

  // Which allocator setting makes eager fastest: once per task.
  Result<void> ChooseBaseline(Judging& judging, const Progress& progress) {
    if (baseline) return {};
    const std::vector<Side> sides{{.name = "eager", .allocator = Allocator::kDefault},
                                  {.name = "eager", .allocator = Allocator::kKeep}};
    TimingPlan plan = Plan(judging, 2 * judging.call_seconds(), options.timing_budget / 2);
    plan.processes = 3;
    const TimingOutcome outcome = TRY(RunTiming(Context(progress), sides, plan, judging.rng));
    const double kept = outcome.Ratio(0, 1).median;
    const std::size_t best = kept > 1 ? 1 : 0;
    baseline = TaskBaseline{.eager = sides[best].allocator,
                            .eager_ms = outcome.sides[best].Milliseconds().median,
                            .compile = {}};
    return {};
  }

  // True when a side of ours failed and the evaluation says so.
  static bool NoteFailure(Evaluation& evaluation, const TimingOutcome& outcome) {
    if (!outcome.failed) return false;
    Reject(evaluation, outcome.failed->failure);
    if (outcome.failed->error) evaluation.error = outcome.failed->error;
    evaluation.checks.push_back({"timed_outputs", "fail", evaluation.reason});
    return true;
  }

  Result<void> Time(Judging& judging, const BuiltKernel* best, const Progress& progress) {
    const PhaseTimer timer(judging.evaluation, "time");
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
    TRY(MeasureUpkeep(judging));
    if (auto chosen = ChooseBaseline(judging, progress); !chosen) return chosen;
    Evaluation& evaluation = judging.evaluation;
    evaluation.environment.allocator = AllocatorName(baseline->eager);
    if (auto timed = TimeOnce(judging, best, progress); !timed) return timed;
    if (!evaluation.timing || TRY(Plausible(evaluation))) return {};
    // A disturbed measurement can look too fast as well as too slow: fresh processes decide.
    std::erase_if(evaluation.checks,
                  [](const Check& check) { return check.name == "timed_outputs"; });
    evaluation.checks.push_back(
        {"hard_bound", "note", "faster than its bound at first; timed again"});
    if (auto timed = TimeOnce(judging, best, progress); !timed) return timed;
    if (!judging.failed() && !TRY(Plausible(evaluation))) RejectImplausible(evaluation);
    return {};
  }

  // Fills in the times and ratios, or the failure of the candidate.
  Result<void> TimeOnce(Judging& judging, const BuiltKernel* best, const Progress& progress) {
    Evaluation& evaluation = judging.evaluation;
    std::vector<Side> sides{{.name = "candidate", .kernel = judging.kernel},
                            {.name = "eager", .allocator = baseline->eager}};
    if (best != nullptr) sides.push_back({.name = "best", .kernel = best});
    const double round =
        judging.call_seconds() * static_cast<double>(sides.size() - 1) + baseline->eager_ms * 1e-3;
    const TimingPlan plan = Plan(judging, round, options.timing_budget);
    const TimingOutcome outcome =
        TRY(best == nullptr ? RunTiming(Context(progress), sides, plan, judging.rng)
                            : RunContest(Context(progress), sides, plan,
                                         {.challenger = 0, .champion = 2}, judging.rng));
    if (outcome.failed && outcome.failed->side == 2) {
      return Fail("the present best failed while it was timed: " + outcome.failed->failure.reason);
    }
    if (NoteFailure(evaluation, outcome)) return {};
    evaluation.checks.push_back(
        {"timed_outputs", "pass",
         fmt::format("all outputs of {} timed calls", outcome.sides[0].samples)});
    evaluation.timing = ToTiming(outcome.sides[0], machine.threads, plan);
    evaluation.eager = ToTiming(outcome.sides[1], machine.threads, plan);
    evaluation.speedup_eager = outcome.Ratio(1, 0);
    if (best != nullptr) evaluation.speedup_best = outcome.Ratio(2, 0);
    KeepSamples(evaluation, "eager", sides, outcome);
    return {};
  }

  // A bound taken while the machine was busy is too high: before anything is called implausible the
  // machine is measured once more and the better figures hold.
  Result<Machine> BestMachine() const {
    Machine again = machine;
    if (auto measured = MeasureMachine(again, jail.program_dir()); !measured)
      return std::unexpected(measured.error());
    return BetterFigures(machine, again);
  }

  // Sets the bound and says whether the measured time respects it.
  Result<bool> Plausible(Evaluation& evaluation) const {
    double bound = HardBoundMs(task(), machine);
    if (bound <= 0) return true;
    evaluation.lower_bound_ms = bound;
    // Bursts of so short a call drown in the doorbell's noise: their times cannot prove anything.
    if (bound * kMostCallsInBurst < evaluation.timing->doorbell_us * 1e-3) return true;
    const double measured = evaluation.timing->ms.median;
    if (measured < kImplausibleShare * bound) bound = HardBoundMs(task(), TRY(BestMachine()));
    evaluation.lower_bound_ms = bound;
    if (measured < kImplausibleShare * bound) return false;
    evaluation.checks.push_back(
        {"hard_bound", "pass", fmt::format("{:.4g} ms is the least its bytes take", bound)});
    return true;
  }

  static void RejectImplausible(Evaluation& evaluation) {
    const double measured = evaluation.timing->ms.median;
    const double bound = *evaluation.lower_bound_ms;
    evaluation.checks.push_back(
        {"hard_bound", "fail",
         fmt::format("{:.4g} ms measured, {:.4g} ms possible", measured, bound)});
    Reject(evaluation, Status::kImplausible,
           fmt::format("{:.4g} ms is faster than the {:.4g} ms that its unavoidable bytes take on "
                       "this machine",
                       measured, bound));
  }

  Result<void> TimeCompile(Judging& judging, const Progress& progress) {
    const PhaseTimer timer(judging.evaluation, "time");
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
    Evaluation& evaluation = judging.evaluation;
    std::vector<Side> sides{{.name = "candidate", .kernel = judging.kernel}};
    const auto add = [&](Allocator allocator) {
      sides.push_back({.name = "compile", .mode = TimerMode::kCompile, .allocator = allocator});
    };
    if (baseline->compile) {
      add(*baseline->compile);
    } else {
      add(Allocator::kDefault);
      add(Allocator::kKeep);
    }
    const double round =
        judging.call_seconds() + baseline->eager_ms * 1e-3 * static_cast<double>(sides.size() - 1);
    const TimingPlan plan = Plan(judging, round, options.timing_budget);
    Result<TimingOutcome> outcome = RunTiming(Context(progress), sides, plan, judging.rng);
    if (!outcome && outcome.error().kind != ErrorKind::kInterrupted) {
      // torch.compile may not support a module; that is no fault of the candidate.
      evaluation.checks.push_back({"compile_baseline", "note", outcome.error().message});
      return {};
    }
    if (!outcome) return std::unexpected(outcome.error());
    if (NoteFailure(evaluation, *outcome)) return {};
    const std::size_t faster = sides.size() == 3 && outcome->Ratio(1, 2).median > 1 ? 2 : 1;
    baseline->compile = sides[faster].allocator;
    evaluation.compile = ToTiming(outcome->sides[faster], machine.threads, plan);
    evaluation.speedup_compile = outcome->Ratio(faster, 0);
    KeepSamples(evaluation, "compile", sides, *outcome);
    return {};
  }

  // Builds and checks; true when the candidate is right.
  Result<std::optional<BuiltKernel>> BuildAndCheck(const Candidate& candidate, Judging& judging,
                                                   const Progress& progress) {
    const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
    if (progress) progress("build");
    std::optional<BuiltKernel> built = TRY(Build(candidate, judging.evaluation));
    if (!built) return built;
    // Only now, with the binary fixed, are the secrets drawn.
    const Seed seed = options.seed.value_or(SystemSeed());
    judging.evaluation.seed = SeedToHex(seed);
    judging.rng = Rng(seed);
    judging.kernel = &*built;
    if (auto checked = CheckValues(judging, progress); !checked)
      return std::unexpected(checked.error());
    return built;
  }

  Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best, Measure measure,
                              const Progress& progress) {
    Judging judging{.evaluation = {.status = Status::kPassed}, .rng = Rng({})};
    if (task().random) {
      Reject(
          judging.evaluation, Status::kUnsupported,
          "the task draws random numbers in forward (live dropout); its output cannot be checked");
      return std::move(judging.evaluation);
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
      if (auto timed = Time(judging, best_built ? &*best_built : nullptr, progress); !timed)
        return std::unexpected(timed.error());
    }
    if (!judging.failed() && measure == Measure::kEagerAndCompile) {
      if (auto timed = TimeCompile(judging, progress); !timed)
        return std::unexpected(timed.error());
    }
    return std::move(judging.evaluation);
  }
};

Verifier::Verifier(TorchServer& server, const Builder& builder, const Jail& jail,
                   const Machine& machine, VerifyOptions options)
    : impl_(new Impl{.server = server,
                     .builder = builder,
                     .jail = jail,
                     .machine = machine,
                     .options = std::move(options),
                     .header = KernelHeader(server.task()),
                     .libraries = {},
                     .stage = {},
                     .baseline = {}}) {}
Verifier::Verifier(Verifier&&) noexcept = default;
Verifier::~Verifier() = default;

Result<Evaluation> Verifier::Evaluate(const Candidate& candidate, const Candidate* best,
                                      Measure measure, const Progress& progress) {
  return impl_->Evaluate(candidate, best, measure, progress);
}

std::optional<TaskBaseline> Verifier::baseline() const { return impl_->baseline; }
void Verifier::set_baseline(const TaskBaseline& baseline) { impl_->baseline = baseline; }
void Verifier::set_seed(const std::optional<Seed>& seed) { impl_->options.seed = seed; }

}  // namespace pragma
