// Timing: how long calls take, with intervals, and the samples behind it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pragma {

// Interval: a figure with its interval. The unit is in the name of the field that holds it.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
};

// Returns by how much the interval's upper end is above its lower end: 0.05 is 5 %. Infinite where
// the lower end is 0.
[[nodiscard]] double RelativeWidth(const Interval& interval);
[[nodiscard]] bool Overlap(const Interval& a, const Interval& b);

// Roofline: the time that a task's operations and bytes take at the machine's peaks, whichever of
// the two takes longer. It says how far a kernel can still get; a legitimate shortcut may beat it.
struct Roofline {
  double ms = 0;
  bool compute_bound = false;  // true: the operations take longer than the bytes
};

struct Timing {
  Interval ms;              // milliseconds per call, 95 % interval over process medians
  std::size_t samples = 0;  // number of timed calls
  std::size_t processes = 0;
  std::string method;  // how it was measured, as text for people
  int threads = 1;
  double doorbell_us = 0;  // cost of an empty burst, already subtracted
};

// Load: what else the machine did while a session was timed. A turn is the time for which one side
// was awake for one burst. Sums and means are over all turns.
struct Load {
  double seconds = 0;              // length of all turns
  double others = 0;               // processors that other programs kept busy, on average
  double steal = 0;                // processors that the hypervisor kept for itself, on average
  std::optional<double> pressure;  // share of the time in which some thread waited for a processor
  double mhz_low = 0;              // clock of the first processor; 0: not readable
  double mhz_high = 0;
  std::size_t bursts = 0;           // of all sides together
  std::size_t disturbed = 0;        // bursts in which others used the processors
  std::size_t rounds = 0;           // process pairs that were run
  std::size_t rounds_left_out = 0;  // process pairs that had too few undisturbed bursts
  double waited_seconds = 0;        // spent waiting for a quiet machine
};

// RawSamples: the measurements of one side of a timing session, before any statistics.
struct RawSamples {
  std::string session;     // baseline of the session, "eager" or "compile"; sides of one session
                           // are paired
  std::string side;        // "candidate", "best", "eager (keep)", "compile (default)"
  double doorbell_us = 0;  // cost of an empty burst, already subtracted
  std::vector<std::vector<double>> seconds;  // [process][burst], seconds per call
};

}  // namespace pragma
