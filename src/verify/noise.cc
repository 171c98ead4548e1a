#include "verify/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "core/timing.h"

namespace pragma {
namespace {

// Limits for one turn. A turn that is shorter than some ticks is judged only by who wants a
// processor when it begins and when it ends.
constexpr double kShare = 0.05;  // of one processor
constexpr double kTicks = 0.03;  // seconds
// The system's ticks are a sample of a hundred a second and processor. This is some two and a half
// standard deviations of the sum for two processors, as a factor on the root of the seconds.
constexpr double kSampling = 0.1;

// Limits for a session.
constexpr double kBusyBursts = 0.1;  // share of its bursts
constexpr double kBusySteal = 0.05;  // processors

double Limit(double seconds) {
  return kTicks + kShare * seconds + kSampling * std::sqrt(std::max(seconds, 0.0));
}

double StealSeconds(const Watched& watched) {
  return watched.after.steal_seconds - watched.before.steal_seconds;
}

}  // namespace

double OthersSeconds(const Watched& watched) {
  const double busy = watched.after.busy_seconds - watched.before.busy_seconds;
  return busy - watched.side_seconds - (watched.after.own_seconds - watched.before.own_seconds);
}

bool Disturbed(const Watched& watched, int spare) {
  if (std::max(watched.before.runnable, watched.after.runnable) > spare) return true;
  const double limit = Limit(watched.seconds);
  return OthersSeconds(watched) > spare * watched.seconds + limit || StealSeconds(watched) > limit;
}

void LoadSum::Add(const Watched& turn) {
  sum_.seconds += turn.seconds;
  sum_.others += OthersSeconds(turn);
  sum_.steal += StealSeconds(turn);
  if (turn.before.pressure_seconds && turn.after.pressure_seconds) {
    sum_.pressure =
        sum_.pressure.value_or(0) + *turn.after.pressure_seconds - *turn.before.pressure_seconds;
  }
  if (turn.before.mhz > 0) {
    sum_.mhz_low = sum_.mhz_low > 0 ? std::min(sum_.mhz_low, turn.before.mhz) : turn.before.mhz;
    sum_.mhz_high = std::max(sum_.mhz_high, turn.before.mhz);
  }
}

void LoadSum::EndRound(const std::vector<bool>& disturbed_bursts) {
  ++sum_.rounds;
  sum_.bursts += disturbed_bursts.size();
  sum_.disturbed += static_cast<std::size_t>(std::ranges::count(disturbed_bursts, true));
}

Load LoadSum::Mean(int processors) const {
  Load mean = sum_;
  const double seconds = std::max(sum_.seconds, 1e-9);
  mean.others = std::clamp(sum_.others / seconds, 0.0, static_cast<double>(processors));
  mean.steal = sum_.steal / seconds;
  if (mean.pressure) mean.pressure = std::min(*sum_.pressure / seconds, 1.0);
  return mean;
}

bool Busy(const Load& load) {
  return static_cast<double>(load.disturbed) > kBusyBursts * static_cast<double>(load.bursts) ||
         load.steal > kBusySteal;
}

std::string OthersText(const Load& load) {
  std::string text = fmt::format("other programs used the processors in {} of {} bursts",
                                 load.disturbed, load.bursts);
  if (load.steal > kBusySteal)
    text += fmt::format(", the hypervisor kept {:.2f} processors for other guests", load.steal);
  return text;
}

}  // namespace pragma
