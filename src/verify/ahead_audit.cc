#include "verify/ahead_audit.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "harness/timed_process.h"
#include "verify/input_sets.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"

namespace pragma {
namespace {

// How much slower than usual a call on late inputs may be. Threads have to be woken, and other
// processes used the caches. This also bounds what a kernel can gain by working ahead.
struct Allowance {
  double pace = 1.25;          // factor on the usual time, to which is added:
  double late_burst = 150e-6;  // seconds for a burst, thaw and doorbell included
  double single_call = 40e-6;  // seconds for a call, doorbell included, publishing not
};
// The allowance for Python. An interpreter and torch's dispatcher find their own caches cold after
// a stop. The verdict on a Python solution is weaker anyway.
constexpr Allowance kPythonAllowance{.pace = 2.5, .late_burst = 500e-6, .single_call = 250e-6};

// Where other programs use the processors, none of the first calls may be undisturbed. A test that
// fails is repeated for some seconds with growing pauses. More time does not help a kernel that
// works ahead.
constexpr int kAuditProcesses = 12;
constexpr int kWithoutPause = 4;
constexpr Seconds kPause{0.1};
constexpr int kLateBursts = 8;    // maximum per process
constexpr int kSingleCalls = 12;  // maximum per process

using Sets = std::span<const std::uint32_t>;

class Audit final {
 public:
  Audit(const TimingScene& scene, const TimingPlan& plan, Seconds fastest, Rng& rng)
      : run_(scene, plan, rng), late_(*scene.sets.late()), fastest_(fastest.count()) {
    audit_.late_burst.seconds = audit_.single_call.seconds =
        std::numeric_limits<double>::infinity();
    audit_.ordinary_seconds = fastest_;
    // If a set's inputs need their own parameters, the packed parameters would no longer fit new
    // inputs.
    parameters_stay_ = !(run_.side(0).prepares() && late_.draws_refills());
    audit_.single_call.kept = plan.timed == 1 || !parameters_stay_;
    if (run_.side(0).kernel->python != nullptr) allowance_ = kPythonAllowance;
  }

  Result<AheadAudit> Run() {
    for (int process = 0; process < kAuditProcesses && !audit_.passed() && !run_.failed();
         ++process) {
      if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while timing");
      const int pauses = std::max(process + 1 - kWithoutPause, 0);
      if (pauses > 0) run_.clock().SleepFor(kPause * pauses);
      // There are no ordinary bursts in the first process, which mostly decides. Later processes
      // run as many as the session had.
      TRY(RunProcess(process > 0 ? run_.plan().bursts : 0));
    }
    audit_.failed = run_.outcome().failed;
    audit_.disturbed = !audit_.passed() && fastest_here_ > fastest_ * allowance_.pace;
    return audit_;
  }

 private:
  Result<void> RunProcess(int ordinary) {
    TRY(run_.StartRound());
    for (int i = 0; i < ordinary && !run_.failed(); ++i) TRY(run_.RunBurst());
    if (run_.failed()) return {};
    run_.Settle();
    if (ordinary > 0) {
      const double measured = std::ranges::min(run_.outcome().sides.front().seconds.back());
      fastest_here_ = std::min(fastest_here_, measured);
      audit_.ordinary_seconds = std::min(fastest_, fastest_here_);
    }
    for (int i = 0; i < kLateBursts && !audit_.late_burst.kept && !run_.failed(); ++i)
      TRY(LateBurst());
    for (int i = 0; i < kSingleCalls && !audit_.single_call.kept && !run_.failed(); ++i)
      TRY(SingleCall());
    return {};
  }

  void Note(Pace& pace, double seconds, double slack) const {
    pace.seconds = std::min(pace.seconds, seconds);
    pace.kept = seconds <= audit_.ordinary_seconds * allowance_.pace + slack;
  }

  // Wakes the kernel for fresh sets and runs its warm-up calls. False: it failed.
  Result<bool> WarmUp(Sets sets) {
    TRY(run_.sets().RenewSets(sets, run_.rng()));
    run_.process(0).Poison(run_.rng(), sets);
    TRY(run_.process(0).Thaw());
    if (TRY(run_.Prepare(0, sets))) return false;
    return !TRY(PlayWarmup(sets));
  }

  // True: it failed.
  Result<bool> PlayWarmup(Sets sets) {
    Nanoseconds elapsed{0};
    return run_.Play(0, sets.first(run_.plan().warmup), &elapsed);
  }

  [[nodiscard]] double Since(TimePoint start) const {
    return Seconds(run_.clock().Now() - start).count();
  }

  Result<void> LateBurst() {
    const std::vector<std::uint32_t> sets = run_.ShuffledSets();
    const Sets timed = Sets(sets).subspan(run_.plan().warmup);
    if (!TRY(WarmUp(sets)) || TRY(run_.Freeze(0))) return {};
    for (const std::uint32_t set : timed) {
      if (parameters_stay_) TRY(late_.RenewInputs(set, run_.rng()));
    }
    run_.process(0).Poison(run_.rng(), timed);
    late_.Warm(timed);
    // The clock starts before the thaw, so that all work on the new inputs falls within the
    // measured time.
    const TimePoint start = run_.clock().Now();
    TRY(run_.process(0).Thaw());
    Nanoseconds elapsed{0};
    if (TRY(run_.Play(0, timed, &elapsed))) return {};
    const double burst = Since(start);
    if (TRY(run_.Freeze(0))) return {};
    TRY(run_.CheckOutputs(0, timed));
    const auto calls = static_cast<double>(run_.plan().timed);
    if (!run_.failed()) Note(audit_.late_burst, burst / calls, allowance_.late_burst / calls);
    return {};
  }

  Result<void> SingleCall() {
    const std::vector<std::uint32_t> sets = run_.ShuffledSets();
    const Sets last = Sets(sets).last(1);
    if (!TRY(WarmUp(sets)) || TRY(run_.Freeze(0))) return {};
    TRY(late_.StageInputs(last.front(), run_.rng()));
    run_.process(0).Poison(run_.rng(), last);
    TRY(run_.process(0).Thaw());
    if (TRY(PlayWarmup(sets))) return {};
    const TimePoint start = run_.clock().Now();
    late_.Publish(last.front());
    const double publishing = Since(start);
    Nanoseconds elapsed{0};
    if (TRY(run_.Play(0, last, &elapsed))) return {};
    const double call = Since(start);
    if (TRY(run_.Freeze(0))) return {};
    TRY(run_.CheckOutputs(0, last));
    if (!run_.failed()) Note(audit_.single_call, call, allowance_.single_call + publishing);
    return {};
  }

  TimingRun run_;
  LateInputs& late_;
  double fastest_ = 0;  // seconds of one call in the session, at best
  double fastest_here_ = std::numeric_limits<double>::infinity();  // in the audit's ordinary bursts
  bool parameters_stay_ = true;
  Allowance allowance_;
  AheadAudit audit_;
};

}  // namespace

Result<AheadAudit> AuditWorkAhead(const TimingScene& scene, const TimingPlan& plan, Seconds fastest,
                                  Rng& rng) {
  return Audit(scene, plan, fastest, rng).Run();
}

}  // namespace pragma
