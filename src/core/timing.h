// Timing: how long calls take, with intervals, and the samples behind it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pragma {

// Interval: a figure with its interval. The unit is in the name of the field that holds it.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
};

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

// RawSamples: the measurements of one side of a timing session, before any statistics.
struct RawSamples {
  std::string session;     // baseline of the session, "eager" or "compile"; sides of one session
                           // are paired
  std::string side;        // "candidate", "best", "eager (keep)", "compile (default)"
  double doorbell_us = 0;  // cost of an empty burst, already subtracted
  std::vector<std::vector<double>> seconds;  // [process][burst], seconds per call
};

}  // namespace pragma
