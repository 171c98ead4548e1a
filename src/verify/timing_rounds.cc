#include "verify/timing_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "core/timing.h"
#include "verify/noise.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

// Disturbed process pairs are left out if at least so many others remain.
constexpr int kFewestRounds = 5;
// A busy session has at least so many process pairs, because a few that agree by chance would end
// it with an interval that is too narrow.
constexpr int kFewestOfBusy = 10;
constexpr double kNoAim = 1;  // an interval may be as wide as this: precision is not asked for
constexpr int kAddedAtOnce = 5;
constexpr int kMostTimesThePlan = 4;

// Where time is short, a session has at least the first number of process pairs, or the second if
// it is twice as old as it may be.
constexpr int kFewestInTime = 3;
constexpr int kFewestOfAll = 2;

constexpr Seconds kLook{0.05};   // long enough for the system's ticks
constexpr Seconds kPause{0.15};  // between two looks

class Rounds final {
 public:
  Rounds(const TimingScene& scene, const TimingPlan& plan, Rng& rng)
      : scene_(scene), plan_(plan), run_(scene, plan, rng), start_(scene.clock.Now()) {}

  Result<TimingOutcome> Run() {
    int wanted = plan_.processes;
    int round = 0;
    for (; !run_.failed() && !OutOfTime(round); ++round) {
      if (round == wanted && !MoreWanted(round)) break;
      if (round == wanted) wanted += kAddedAtOnce;
      if (round == 0 || outcome().disturbed.back()) TRY(WaitForQuiet());
      if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while timing");
      if (scene_.progress) scene_.progress(round + 1, wanted);
      TRY(run_.RunRound());
    }
    if (!run_.failed()) Judge();
    if (!run_.failed()) NoteShort(round);
    outcome().load.waited_seconds = waited_;
    return std::move(outcome());
  }

 private:
  TimingOutcome& outcome() { return run_.outcome(); }

  [[nodiscard]] bool OutOfTime(int rounds) const {
    const Seconds age = scene_.clock.Now() - start_;
    return (rounds >= kFewestInTime && age >= scene_.limit) ||
           (rounds >= kFewestOfAll && age >= 2 * scene_.limit);
  }

  void NoteShort(int rounds) {
    if (rounds >= plan_.processes) return;
    std::string& noisy = outcome().noisy;
    noisy += fmt::format("{}there was time for {} of {} process pairs", noisy.empty() ? "" : "; ",
                         rounds, plan_.processes);
  }

  [[nodiscard]] bool Enough(const TimingOutcome& outcome) const {
    const auto undisturbed = std::ranges::count(outcome.disturbed, false);
    return undisturbed >= std::min(kFewestRounds, plan_.processes);
  }

  bool MoreWanted(int rounds) {
    if (!scene_.noise.read || !Busy(outcome().load)) return false;
    if (scene_.noise.width >= kNoAim) return false;
    const Seconds age = scene_.clock.Now() - start_;
    if (age.count() - waited_ >= scene_.noise.time.count()) return false;
    if (rounds >= kMostTimesThePlan * plan_.processes) return false;
    if (rounds < kFewestOfBusy) return true;
    TimingOutcome kept = outcome();
    if (Enough(kept)) kept.LeaveOutDisturbed();
    return Width(kept) >= scene_.noise.width;
  }

  // Returns the relative width of the widest interval of a ratio to the first side.
  static double Width(const TimingOutcome& outcome) {
    double width = 0;
    for (std::size_t i = 1; i < outcome.sides.size(); ++i) {
      const auto& seconds = outcome.sides[i].seconds;
      if (seconds.empty() || seconds.front().empty()) continue;  // left out
      width = std::max(width, RelativeWidth(outcome.Ratio(i, 0)));
    }
    return width;
  }

  void Judge() {
    if (!scene_.noise.read) return;
    const bool enough = Enough(outcome());
    if (enough) outcome().LeaveOutDisturbed();
    if (!Busy(outcome().load)) return;
    const double width = Width(outcome());
    if (enough && width < scene_.noise.width) return;
    outcome().noisy = OthersText(outcome().load);
    if (width >= scene_.noise.width)
      outcome().noisy += fmt::format(", and an interval is {:.0f} % wide", width * 100);
  }

  // Nothing of pragma's own runs now, so that all that is busy is another program.
  [[nodiscard]] bool Quiet() {
    const LoadReading before = scene_.noise.read();
    scene_.clock.SleepFor(kLook);
    return !Disturbed({.before = before, .after = scene_.noise.read(), .seconds = kLook.count()},
                      scene_.spare_processors());
  }

  Result<void> WaitForQuiet() {
    if (!scene_.noise.read) return {};
    const TimePoint start = scene_.clock.Now();
    const double before = waited_;
    while (waited_ < scene_.noise.quiet_wait.count() && !Quiet()) {
      if (Interrupted())
        return Fail(ErrorKind::kInterrupted, "interrupted while waiting for quiet");
      scene_.clock.SleepFor(kPause);
      waited_ = before + Seconds(scene_.clock.Now() - start).count();
    }
    return {};
  }

  const TimingScene& scene_;
  const TimingPlan& plan_;
  TimingRun run_;
  TimePoint start_;
  double waited_ = 0;
};

}  // namespace

Result<TimingOutcome> RunTiming(const TimingScene& scene, const TimingPlan& plan, Rng& rng) {
  return Rounds(scene, plan, rng).Run();
}

}  // namespace pragma
