// LoadReader: reads how busy the machine's processors are. What the figures mean is decided
// elsewhere (verify/noise.h).
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/fd.h"

namespace pragma {

// Counters of the operating system at one moment, for the processors that this process may use.
// Only differences of them mean something, except for `runnable` and `mhz`. Where the system has no
// such file, a counter stays 0.
struct LoadReading {
  double busy_seconds = 0;   // processor time of all programs; its unit is a tick of 10 ms
  double steal_seconds = 0;  // time that the hypervisor gave to other guests; the same unit
  double own_seconds = 0;    // processor time of this process
  // Time in which some thread waited for a processor. nullopt: the system does not account it.
  std::optional<double> pressure_seconds;
  // Threads besides the one that reads that run or wait for a processor now. 0 where this process
  // may not use all processors, since the system counts them only for the whole machine.
  int runnable = 0;
  double mhz = 0;  // clock of the first processor
};

class LoadReader final {
 public:
  LoadReader();
  // For tests: the folders that the system's files are in, and the processors that this process
  // may use.
  LoadReader(const std::filesystem::path& proc, const std::filesystem::path& system,
             std::vector<int> processors);

  // Takes some 50 us on a machine with few processors. Never fails: what cannot be read is 0.
  [[nodiscard]] LoadReading Read() const;

 private:
  UniqueFd stat_;
  UniqueFd pressure_;
  UniqueFd clock_;
  std::vector<int> processors_;
};

}  // namespace pragma
