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
#include "core/statistics.h"
#include "verify/host_calls.h"
#include "verify/host_sides.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"

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
  PaperMatch(const HostParts& parts, const Side& side, Rng& rng)
      : sides_(parts, {side}),
        scene_{.sets = parts.stage, .sides = sides_, .clock = clock_},
        run_(scene_, plan_, rng) {}

  Result<SideTimes> Run();

 private:
  Result<double> Doorbell();
  Result<std::vector<double>> Repeat(double doorbell);
  [[nodiscard]] SideTimes Failure() {
    return {.times = {}, .failure = run_.outcome().failed->failure.reason};
  }

  SystemClock clock_;
  HostSides sides_;
  TimingScene scene_;
  TimingPlan plan_{.processes = 1, .bursts = 1, .warmup = 0, .timed = 1};
  TimingRun run_;
  std::array<std::uint32_t, 1> set_{0};
};

Result<SideTimes> PaperMatch::Run() {
  TRY(run_.StartRound());
  if (run_.failed()) return Failure();
  TRY(run_.process(0).Thaw());
  run_.process(0).Poison(run_.rng(), set_);
  if (TRY(run_.Prepare(0, set_))) return Failure();
  const double doorbell = TRY(Doorbell());
  if (run_.failed()) return Failure();
  const std::vector<double> seconds = TRY(Repeat(doorbell));
  if (run_.failed()) return Failure();
  if (!run_.side(0).is_torch()) TRY(run_.CheckOutputs(0, set_));
  if (run_.failed()) return Failure();
  return SideTimes{.times = CallTimesOf(seconds), .failure = {}};
}

// Returns the seconds that a doorbell round trip without a call costs.
Result<double> PaperMatch::Doorbell() {
  std::vector<double> empty;
  for (int i = 0; i < kEmptyRounds; ++i) {
    Nanoseconds elapsed{0};
    if (TRY(run_.PlayEmpty(0, set_, &elapsed))) return 0;
    empty.push_back(Seconds(elapsed).count());
  }
  return Median(empty);
}

Result<std::vector<double>> PaperMatch::Repeat(double doorbell) {
  std::vector<double> seconds;
  for (int i = 0; i < kPaperWarmups + kPaperRepetitions; ++i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while timing");
    Nanoseconds elapsed{0};
    if (TRY(run_.Play(0, set_, &elapsed))) return seconds;
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

Result<PaperTiming> TimeByPaper(const HostParts& parts, const PaperSides& sides, Rng& rng) {
  parts.stage.Forget();
  TRY(parts.stage.DrawSet(0, rng() >> 1U, 0));
  PaperTiming timing;
  if (sides.kernel != nullptr) {
    const Side candidate{.role = SideRole::kCandidate, .kernel = sides.kernel};
    const SideTimes times = TRY(PaperMatch(parts, candidate, rng).Run());
    timing.candidate = times.times;
    timing.failure = times.failure;
  }
  const SideTimes eager = TRY(PaperMatch(parts, {.role = SideRole::kEager}, rng).Run());
  timing.eager = *eager.times;  // a failing reference is an Error
  if (!sides.compile) return timing;
  const Side compile{.role = SideRole::kCompile};
  Result<SideTimes> times = PaperMatch(parts, compile, rng).Run();
  if (!times && times.error().kind == ErrorKind::kInterrupted)
    return std::unexpected(times.error());
  if (times) timing.compile = times->times;  // torch.compile may not support a module
  if (!times) timing.failure = times.error().message;
  return timing;
}

}  // namespace pragma
