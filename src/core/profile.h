// Profile: the measurements of a verified kernel and their interpretation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

// Metric: one measured figure. docs/metrics.md lists the tags with their units.
struct Metric {
  std::string tag;
  double value = 0;
  std::string unit;
  // How it was obtained: pmu, exact count, measured (clocks, rusage), simulated, sampled, static,
  // estimated.
  std::string source;
};

struct HotSpot {
  std::string file;
  int line = 0;
  double percent = 0;  // share of the samples
  std::string text;    // text of the source line
  std::string remark;  // compiler's remark about it; may be empty
};

struct Diagnosis {
  std::string bottleneck;  // an id of docs/design.md 11
  double score = 0;        // share of the time that it can explain, from 0 to 1
  std::vector<std::string> evidence;
  std::string action;
  int line = 0;  // hottest line of kernel.cpp that it concerns; 0: no particular line
  // Speed-up that removing the cause completely would give. It is compared with later measurements.
  double predicted_speedup = 1;
};

// ProviderNote: what happened to one source of metrics.
struct ProviderNote {
  std::string name;
  std::string verdict;  // ran, absent, refused, skipped, failed
  std::string detail;   // reason, and what to install or allow; may be empty when it ran
  double seconds = 0;
};

struct Profile {
  std::vector<Metric> metrics;       // each tag once, from the best source available
  std::vector<Diagnosis> diagnosis;  // at most three, by the share that they explain, largest first
  std::vector<HotSpot> hot;          // hottest first
  std::vector<ProviderNote> providers;
  // Whether the kernel was better or worse than the best version when it was measured, and by which
  // count. Empty: there was no best version.
  std::string judgement;
  [[nodiscard]] const Metric* Find(std::string_view tag) const;
};

}  // namespace pragma
