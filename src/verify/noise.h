// Noise: when other programs disturb a measurement. Pure functions of what a LoadReader read. They
// never look at the time that is measured, so that leaving out what was disturbed favours no side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/timing.h"
#include "machine/load_reader.h"

namespace pragma {

// How a session notices other programs, and what it does about them.
struct NoiseRules {
  std::function<LoadReading()> read = {};  // empty: nothing is done about others
  Seconds quiet_wait{0};                   // in all, for waiting until the machine is quiet
  double width = 0.05;                     // aim for the relative width of every ratio's interval
  Seconds time{0};  // no process pairs are added once the session is older than this
};

// A stretch of time, with what was read around it.
struct Watched {
  LoadReading before;
  LoadReading after;
  double seconds = 0;       // how long it was
  double side_seconds = 0;  // processor time of the only side that was awake
};

// Returns the processor time that neither the side nor this process used. May be negative: the
// system counts in ticks.
[[nodiscard]] double OthersSeconds(const Watched& watched);

// Whether other programs, or other guests of the hypervisor, used the processors of the sides.
// Others may use `spare` processors.
[[nodiscard]] bool Disturbed(const Watched& watched, int spare);

// LoadSum: adds up the turns of a session.
class LoadSum final {
 public:
  void Add(const Watched& turn);
  void EndRound(const std::vector<bool>& disturbed_bursts);
  // `processors`: how many there are. Ticks of short turns may add up to more.
  [[nodiscard]] Load Mean(int processors) const;

 private:
  Load sum_;
};

// Whether others used the machine so much during a session that something must be done about it.
[[nodiscard]] bool Busy(const Load& load);
// Returns what others did, as the beginning of a sentence.
[[nodiscard]] std::string OthersText(const Load& load);

}  // namespace pragma
