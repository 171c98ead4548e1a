#include "tune/variant_bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/check.h"
#include "core/evaluation.h"
#include "core/status.h"
#include "machine/load_reader.h"
#include "machine/machine.h"
#include "verify/host_calls.h"
#include "verify/host_sides.h"
#include "verify/judging.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"
#include "verify/timing_session.h"
#include "verify/value_check.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

// Maximum number of sides in one match, the first included. Each has its own outputs and scratch.
constexpr std::size_t kMostSides = 8;
// Time for a pair in five processes, as MakePlan counts. It is shorter than for a verdict, because
// many pairs are timed.
constexpr Seconds kPairBudget{0.5};
constexpr double kProcessCaution = 1.3;  // factor on the longest process so far
// First guess of the time to start a jailed process and load a kernel.
constexpr double kStartSeconds = 0.08;

}  // namespace

struct VariantBench::Impl {
  HostParts parts;
  const Builder& builder;
  const std::string& kernel_header;
  const BuiltKernel* first = nullptr;
  Judging drawn;            // seed and input sets of the first check
  double side_seconds = 0;  // longest time of one side of a process so far

  Result<void> MeasureUpkeep();
  [[nodiscard]] double SideSeconds(const TimingPlan& plan, double call_seconds) const;
  Result<VariantCheck> CheckWith(const BuiltKernel& kernel, Judging judging,
                                 Result<void> (*check)(const CheckParts&, Judging&));
  [[nodiscard]] TimingPlan Plan(const VariantMatch& match) const;
};

namespace {

// Times some kernels against the first, in as many fresh processes of each as there is time for.
class Group final {
 public:
  Group(const HostParts& parts, Rng& rng, const TimingPlan& plan, double seconds,
        double& side_seconds)
      : parts_(parts), rng_(rng), plan_(plan), seconds_(seconds), side_seconds_(side_seconds) {}

  // `kernels` holds indices into `match`. Results are added to `times`.
  Result<void> Run(const BuiltKernel& first, const VariantMatch& match,
                   std::vector<std::size_t> kernels, VariantTimes& times) {
    while (!kernels.empty() && processes_left() > 0 && TimeForAnother(kernels.size())) {
      std::vector<Side> sides{{.kernel = &first}};
      for (const std::size_t i : kernels) sides.push_back({.kernel = match.kernels[i]});
      const std::size_t failed = TRY(RunUntilFailure(sides, kernels, times));
      if (failed == 0) break;
      kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(failed - 1));
    }
    return {};
  }

 private:
  [[nodiscard]] int processes_left() const { return plan_.processes - done_; }
  [[nodiscard]] bool TimeForAnother(std::size_t kernels) const {
    const double process = side_seconds_ * static_cast<double>(kernels + 1);
    return Since(start_).count() + process * kProcessCaution <= seconds_;
  }

  // Returns the side that failed. 0: no side failed, or the first one did.
  Result<std::size_t> RunUntilFailure(const std::vector<Side>& sides,
                                      const std::vector<std::size_t>& kernels,
                                      VariantTimes& times) {
    HostSides processes(parts_, sides);
    const TimingScene scene{
        .sets = parts_.stage,
        .sides = processes,
        .clock = clock_,
        .processors = {.allowed = parts_.worker.threads,
                       .available = static_cast<int>(std::thread::hardware_concurrency())},
        .noise = {.read = [this] { return load_.Read(); }}};
    TimingRun run(scene, plan_, rng_);
    while (processes_left() > 0 && TimeForAnother(kernels.size())) {
      if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while tuning");
      const TimePoint before = std::chrono::steady_clock::now();
      TRY(run.RunRound());
      side_seconds_ =
          std::max(side_seconds_, Since(before).count() / static_cast<double>(sides.size()));
      if (run.failed()) return NoteFailure(*run.outcome().failed, kernels, times);
      ++done_;
      const TimingOutcome latest = Latest(run.outcome());
      for (std::size_t i = 0; i < kernels.size(); ++i)
        times.logs[kernels[i]].push_back(std::log(latest.Ratio(0, i + 1).median));
    }
    return std::size_t{0};
  }

  // Returns the outcome of the last process only.
  static TimingOutcome Latest(const TimingOutcome& outcome) {
    TimingOutcome latest;
    for (const SideTiming& side : outcome.sides)
      latest.sides.push_back({.seconds = {side.seconds.back()}});
    return latest;
  }

  static std::size_t NoteFailure(const TimingFailure& failed,
                                 const std::vector<std::size_t>& kernels, VariantTimes& times) {
    VariantCheck& check = failed.side == 0 ? times.first : times.failures[kernels[failed.side - 1]];
    check.status = failed.failure.status;
    check.reason = "while it was timed: " + failed.failure.reason;
    return failed.side;
  }

  const HostParts& parts_;
  SystemClock clock_;
  LoadReader load_;
  Rng& rng_;
  const TimingPlan& plan_;
  double seconds_;
  double& side_seconds_;
  TimePoint start_ = std::chrono::steady_clock::now();
  int done_ = 0;
};

}  // namespace

Result<VariantCheck> VariantBench::Impl::CheckWith(const BuiltKernel& kernel, Judging judging,
                                                   Result<void> (*check)(const CheckParts&,
                                                                         Judging&)) {
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  judging.kernel = &kernel;
  {
    HostCalls calls(parts, judging);
    TRY(check({.sets = parts.stage, .calls = calls, .options = parts.options}, judging));
  }
  VariantCheck checked{.status = judging.evaluation.status,
                       .reason = judging.evaluation.reason,
                       .call_seconds = judging.call_seconds()};
  if (&kernel == first) drawn = std::move(judging);
  return checked;
}

TimingPlan VariantBench::Impl::Plan(const VariantMatch& match) const {
  TimingPlan plan = MakePlan({.sets = parts.stage.ring().sets(),
                              .round_seconds = 2 * match.call_seconds,
                              .upkeep_seconds = drawn.upkeep_seconds,
                              .cache = parts.options.judging.cache},
                             kPairBudget);
  plan.processes = match.processes;
  return plan;
}

// Measures how long a refill takes. The first refill of a set warms the reference up.
Result<void> VariantBench::Impl::MeasureUpkeep() {
  constexpr std::uint32_t kSlot = 1;  // the first slot holds the set of the checks
  const std::array<std::uint32_t, 1> slots{kSlot};
  TRY(parts.stage.RenewSets(slots, drawn.rng));
  const TimePoint before = std::chrono::steady_clock::now();
  TRY(parts.stage.RenewSets(slots, drawn.rng));
  drawn.upkeep_seconds = Since(before).count() + 2 * drawn.compare_seconds;
  return {};
}

double VariantBench::Impl::SideSeconds(const TimingPlan& plan, double call_seconds) const {
  const auto calls = static_cast<double>(plan.sets()) * plan.bursts;
  return kStartSeconds + calls * (call_seconds + drawn.upkeep_seconds);
}

VariantBench::VariantBench(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
VariantBench::VariantBench(VariantBench&&) noexcept = default;
VariantBench::~VariantBench() = default;

Result<VariantBench> VariantBench::Open(Verifier& verifier) {
  const VariantParts parts = TRY(verifier.Variants());
  return VariantBench(std::unique_ptr<Impl>(new Impl{.parts = parts.host,
                                                     .builder = parts.builder,
                                                     .kernel_header = parts.kernel_header,
                                                     .drawn = {}}));
}

Result<BuildOutcome> VariantBench::Build(const Candidate& candidate, Seconds limit) const {
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  return impl_->builder.Build(candidate, impl_->kernel_header, limit);
}

Result<VariantCheck> VariantBench::CheckFirst(const BuiltKernel& first) {
  impl_->first = &first;
  Judging judging{.evaluation = {.status = Status::kPassed}};
  judging.seed = SystemSeed();  // inputs are drawn only now that the default is built
  judging.rng = Rng(judging.seed);
  VariantCheck checked = TRY(impl_->CheckWith(first, std::move(judging), CheckNominal));
  if (checked.passed()) TRY(impl_->MeasureUpkeep());
  return checked;
}

double VariantBench::ProcessSeconds(double call_seconds) const {
  const TimingPlan plan =
      impl_->Plan({.kernels = {}, .call_seconds = call_seconds, .processes = 1});
  return 2 * std::max(impl_->side_seconds, impl_->SideSeconds(plan, call_seconds));
}

Result<VariantCheck> VariantBench::Check(const BuiltKernel& kernel, Seconds limit) {
  const Seconds usual = impl_->parts.worker.run_limit;
  impl_->parts.worker.run_limit = std::min(usual, limit);
  Judging judging{.evaluation = {.status = Status::kPassed}};
  judging.rng = Rng(DeriveSeed(impl_->drawn.seed, kernel.sha256));
  Result<VariantCheck> checked = impl_->CheckWith(kernel, std::move(judging), CheckDrawn);
  impl_->parts.worker.run_limit = usual;
  return checked;
}

Result<VariantTimes> VariantBench::Time(const VariantMatch& match) {
  const TimePoint asked = std::chrono::steady_clock::now();
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  const TimePoint start = std::chrono::steady_clock::now();
  VariantTimes times;
  times.waited_seconds = Seconds(start - asked).count();
  times.logs.resize(match.kernels.size());
  times.failures.resize(match.kernels.size());
  const TimingPlan plan = impl_->Plan(match);
  impl_->side_seconds = std::max(impl_->side_seconds, impl_->SideSeconds(plan, match.call_seconds));
  const std::size_t groups = (match.kernels.size() + kMostSides - 2) / (kMostSides - 1);
  for (std::size_t group = 0; group < groups && times.first.passed(); ++group) {
    std::vector<std::size_t> kernels;
    for (std::size_t i = group; i < match.kernels.size(); i += groups) kernels.push_back(i);
    const double share =
        (match.seconds - Since(start).count()) / static_cast<double>(groups - group);
    TRY(Group(impl_->parts, impl_->drawn.rng, plan, share, impl_->side_seconds)
            .Run(*impl_->first, match, std::move(kernels), times));
  }
  times.seconds = Since(start).count();
  return times;
}

}  // namespace pragma
