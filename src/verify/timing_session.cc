#include "verify/timing_session.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/statistics.h"
#include "core/timing.h"

namespace pragma {
namespace {

// The calls count for at least this share of a burst, so that a disturbed doorbell cannot make the
// burst look like nothing.
constexpr double kLeastShareOfCalls = 0.25;

}  // namespace

void SideTiming::Add(std::span<const TimedBurst> bursts, double doorbell) {
  for (const TimedBurst& burst : bursts) {
    const double inside = std::max(burst.seconds - doorbell, burst.seconds * kLeastShareOfCalls);
    seconds.back().push_back(inside / static_cast<double>(burst.calls));
    samples += burst.calls;
  }
  doorbell_us = doorbell * 1e6;
}

Interval SideTiming::Milliseconds() const {
  std::vector<double> logs;
  for (const std::vector<double>& process : seconds) {
    if (!process.empty()) logs.push_back(std::log(Median(process) * 1e3));
  }
  return GeometricInterval(logs);
}

Seconds SideTiming::Fastest() const {
  Seconds fastest{std::numeric_limits<double>::infinity()};
  for (const std::vector<double>& process : seconds) {
    for (const double burst : process) fastest = std::min(fastest, Seconds{burst});
  }
  return fastest;
}

Interval TimingOutcome::Ratio(std::size_t a, std::size_t b) const {
  std::vector<double> logs;
  for (std::size_t process = 0; process < sides[a].seconds.size(); ++process) {
    std::vector<double> paired;
    for (std::size_t burst = 0; burst < sides[a].seconds[process].size(); ++burst) {
      paired.push_back(
          std::log(sides[a].seconds[process][burst] / sides[b].seconds[process][burst]));
    }
    if (!paired.empty()) logs.push_back(Median(paired));
  }
  return GeometricInterval(logs);
}

void TimingOutcome::LeaveOutDisturbed() {
  for (SideTiming& side : sides) {
    std::vector<std::vector<double>> kept;
    for (std::size_t round = 0; round < side.seconds.size(); ++round) {
      if (!disturbed.at(round)) kept.push_back(std::move(side.seconds[round]));
    }
    side.seconds = std::move(kept);
  }
  load.rounds_left_out += static_cast<std::size_t>(std::ranges::count(disturbed, true));
  std::erase(disturbed, true);
}

bool Beats(const TimingOutcome& outcome, std::size_t challenger, std::size_t champion) {
  return !outcome.failed && outcome.Ratio(champion, challenger).low > 1 + kMinimumEffect;
}

}  // namespace pragma
