#include "tune/halving.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/statistics.h"
#include "core/timing.h"

namespace pragma {
namespace {

constexpr std::array<int, 5> kProcesses{3, 4, 6, 8, 10};  // by round
constexpr int kFewestProcesses = 2;                       // minimum for an interval
constexpr int kFinalProcesses = 10;
constexpr int kFewestFinalProcesses = 5;
constexpr double kShareOfRound = 0.5;  // of the time left for rounds, while more than two remain
constexpr double kCaution = 1.3;       // factor on the expected duration of a round

class Halving final {
 public:
  Halving(std::size_t contestants, const HalvingLimits& limits, const MeasureRound& measure)
      : limits_(limits), measure_(measure), process_seconds_(limits.process_seconds * kCaution) {
    result_.standings.resize(contestants);
    alive_.resize(contestants);
    std::iota(alive_.begin(), alive_.end(), std::size_t{0});
  }

  Result<HalvingResult> Run() {
    while (alive_.size() > 1) {
      const int processes = PlanRound();
      if (processes == 0) break;
      TRY(Measure(processes, LeftForRounds()));
      Eliminate();
    }
    if (alive_.size() == 1) TRY(Confirm());
    return std::move(result_);
  }

 private:
  [[nodiscard]] double Left() const { return limits_.seconds - result_.seconds; }
  [[nodiscard]] double LeftForRounds() const {
    return Left() - kFewestFinalProcesses * process_seconds_;
  }
  // Returns how many processes of one contestant fit into this time.
  [[nodiscard]] std::size_t Affordable(double seconds) const {
    return seconds <= 0 ? 0 : static_cast<std::size_t>(seconds / process_seconds_);
  }

  // Returns the number of processes for each contestant in alive_, which is cut down to what there
  // is time for. Returns 0 if there is no time left.
  int PlanRound() {
    const double share = alive_.size() > 2 ? kShareOfRound : 1;
    const auto round = static_cast<std::size_t>(result_.rounds);
    const auto wished =
        static_cast<std::size_t>(kProcesses.at(std::min(round, kProcesses.size() - 1)));
    std::size_t affordable = Affordable(share * LeftForRounds());
    if (affordable < kFewestProcesses * alive_.size()) affordable = Affordable(LeftForRounds());
    const std::size_t places = affordable / kFewestProcesses;
    if (places < alive_.size()) CutTo(std::max<std::size_t>(places, 1));
    if (places == 0 || alive_.size() < 2) return 0;
    return static_cast<int>(std::min(wished, affordable / alive_.size()));
  }

  void CutTo(std::size_t places) {
    result_.complete = result_.complete && result_.rounds > 0;
    alive_.resize(places);
  }

  Result<void> Measure(int processes, double seconds) {
    const RoundTimes times =
        TRY(measure_({.contestants = alive_, .processes = processes, .seconds = seconds}));
    result_.seconds += times.seconds;
    ++result_.rounds;
    std::size_t measured = 0;
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      Standing& standing = result_.standings[alive_[i]];
      standing.failure = times.failures[i];
      standing.logs.insert(standing.logs.end(), times.logs[i].begin(), times.logs[i].end());
      measured += times.logs[i].size();
    }
    if (measured > 0) {
      process_seconds_ =
          std::max(limits_.process_seconds, times.seconds / static_cast<double>(measured)) *
          kCaution;
    }
    return {};
  }

  [[nodiscard]] double Score(std::size_t contestant) const {
    return Median(result_.standings[contestant].logs);
  }

  // Sorts the contestants, best first. Those that failed, or that have no interval because time ran
  // out, are removed.
  void Eliminate() {
    const auto no_figure = [this](std::size_t i) {
      const Standing& standing = result_.standings[i];
      if (standing.failure.empty() && !standing.ratio()) result_.complete = false;
      return !standing.failure.empty() || !standing.ratio();
    };
    std::erase_if(alive_, no_figure);
    if (alive_.empty()) return;
    std::ranges::stable_sort(alive_,
                             [this](std::size_t a, std::size_t b) { return Score(a) > Score(b); });
    const double leader_low = result_.standings[alive_.front()].ratio()->low;
    const std::size_t half = (alive_.size() + 1) / 2;
    std::vector<std::size_t> staying;
    for (std::size_t rank = 0; rank < alive_.size(); ++rank) {
      const bool overlaps = result_.standings[alive_[rank]].ratio()->high >= leader_low;
      if (overlaps && (rank < half || result_.rounds == 1)) staying.push_back(alive_[rank]);
    }
    // If the last round cannot tell two contestants apart, they are equally good.
    if (result_.rounds >= static_cast<int>(kProcesses.size())) staying.resize(1);
    alive_ = std::move(staying);
  }

  Result<void> Confirm() {
    const std::size_t last = alive_.front();
    const std::optional<Interval> seen = result_.standings[last].ratio();
    if (seen && seen->high <= 1 + limits_.minimum_effect) return {};
    const std::size_t affordable = Affordable(Left());
    if (affordable < kFewestFinalProcesses) {
      result_.complete = false;
      return {};
    }
    const std::size_t before = result_.standings[last].logs.size();
    TRY(Measure(static_cast<int>(std::min<std::size_t>(affordable, kFinalProcesses)), Left()));
    const Standing& standing = result_.standings[last];
    const std::vector<double> fresh(standing.logs.begin() + static_cast<std::ptrdiff_t>(before),
                                    standing.logs.end());
    if (!standing.failure.empty()) return {};
    if (fresh.size() < kFewestProcesses) {
      result_.complete = false;
      return {};
    }
    result_.confirmed = GeometricInterval(fresh);
    if (result_.confirmed->low > 1 + limits_.minimum_effect) result_.winner = last;
    return {};
  }

  const HalvingLimits& limits_;
  const MeasureRound& measure_;
  double process_seconds_;  // expected duration of one process of one contestant
  std::vector<std::size_t> alive_;
  HalvingResult result_;
};

}  // namespace

std::optional<Interval> Standing::ratio() const {
  if (logs.size() < kFewestProcesses) return std::nullopt;
  return GeometricInterval(logs);
}

Result<HalvingResult> SuccessiveHalving(std::size_t contestants, const HalvingLimits& limits,
                                        const MeasureRound& measure) {
  return Halving(contestants, limits, measure).Run();
}

}  // namespace pragma
