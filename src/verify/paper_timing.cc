#include "verify/paper_timing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "verify/match.h"
#include "verify/stage.h"
#include "verify/statistics.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

constexpr int kEmptyRounds = 21;
// A call counts for at least this share of its measured time, so that a disturbed doorbell cannot
// make it look like nothing.
constexpr double kLeastShareOfCall = 0.25;

// The times of one side, or the reason why a candidate has none.
struct SideTimes {
  std::optional<CallTimes> times;
  std::string failure;
};

class PaperMatch final {
 public:
  PaperMatch(const TimingContext& context, const Side& side, Rng& rng)
      : sides_{side}, match_(context, sides_, plan_, rng) {}

  Result<SideTimes> Run();

 private:
  Result<double> Doorbell();
  Result<std::vector<double>> Repeat(double doorbell);
  [[nodiscard]] SideTimes Failure() {
    return {.times = {}, .failure = match_.outcome().failed->failure.reason};
  }

  std::vector<Side> sides_;
  TimingPlan plan_{.processes = 1, .bursts = 1, .warmup = 0, .timed = 1};
  Match match_;
  std::array<std::uint32_t, 1> set_{0};
};

Result<SideTimes> PaperMatch::Run() {
  TRY(match_.StartAll());
  if (match_.failed()) return Failure();
  TRY(match_.player(0).Wake());
  if (match_.player(0).worker) match_.player(0).worker->Poison(match_.rng(), set_);
  if (TRY(match_.Prepare(0, set_))) return Failure();
  const double doorbell = TRY(Doorbell());
  if (match_.failed()) return Failure();
  const std::vector<double> seconds = TRY(Repeat(doorbell));
  if (match_.failed()) return Failure();
  if (match_.player(0).worker) TRY(match_.CheckOutputs(0, set_));
  if (match_.failed()) return Failure();
  return SideTimes{.times = CallTimesOf(seconds), .failure = {}};
}

// Returns the seconds that a doorbell round trip without a call costs.
Result<double> PaperMatch::Doorbell() {
  std::vector<double> empty;
  for (int i = 0; i < kEmptyRounds; ++i) {
    Nanoseconds elapsed{0};
    if (TRY(match_.PlayEmpty(0, set_, &elapsed))) return 0;
    empty.push_back(Seconds(elapsed).count());
  }
  return Median(empty);
}

Result<std::vector<double>> PaperMatch::Repeat(double doorbell) {
  std::vector<double> seconds;
  for (int i = 0; i < kPaperWarmups + kPaperRepetitions; ++i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while timing");
    Nanoseconds elapsed{0};
    if (TRY(match_.Play(0, set_, &elapsed))) return seconds;
    const double call = Seconds(elapsed).count();
    if (i >= kPaperWarmups) seconds.push_back(std::max(call - doorbell, kLeastShareOfCall * call));
  }
  return seconds;
}

}  // namespace

CallTimes CallTimesOf(std::span<const double> seconds) {
  const auto n = static_cast<double>(seconds.size());
  CallTimes times{.trials = static_cast<int>(seconds.size())};
  if (seconds.empty()) return times;
  times.mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / n * 1e3;
  times.min = std::ranges::min(seconds) * 1e3;
  times.max = std::ranges::max(seconds) * 1e3;
  double squares = 0;
  for (const double each : seconds)
    squares += (each * 1e3 - times.mean) * (each * 1e3 - times.mean);
  if (seconds.size() > 1) times.std = std::sqrt(squares / (n - 1));
  return times;
}

std::optional<double> SpeedupByPaper(const std::optional<CallTimes>& baseline,
                                     const std::optional<CallTimes>& candidate) {
  if (!baseline || !candidate || candidate->mean <= 0) return std::nullopt;
  return baseline->mean / candidate->mean;
}

Result<PaperTiming> TimeByPaper(const TimingContext& context, const PaperSides& sides, Rng& rng) {
  context.stage->ForgetTolerances();
  TRY(context.stage->DrawSet(0, rng() >> 1U, 0));
  PaperTiming timing;
  if (sides.kernel != nullptr) {
    const Side candidate{.name = "candidate", .kernel = sides.kernel};
    const SideTimes times = TRY(PaperMatch(context, candidate, rng).Run());
    timing.candidate = times.times;
    timing.failure = times.failure;
  }
  const SideTimes eager = TRY(PaperMatch(context, {.name = "eager"}, rng).Run());
  timing.eager = *eager.times;  // a failing reference is an Error
  if (!sides.compile) return timing;
  const Side compile{.name = "compile", .mode = TimerMode::kCompile};
  Result<SideTimes> times = PaperMatch(context, compile, rng).Run();
  if (!times && times.error().kind == ErrorKind::kInterrupted)
    return std::unexpected(times.error());
  if (times) timing.compile = times->times;  // torch.compile may not support a module
  if (!times) timing.failure = times.error().message;
  return timing;
}

}  // namespace pragma
