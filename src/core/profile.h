// Profile: what was measured about a verified kernel, and what it means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

// docs/metrics.md lists the tags with their units.
struct Metric {
  std::string tag;
  double value = 0;
  std::string unit;
  // pmu, exact count, measured (clocks, rusage), simulated, sampled, static, estimated
  std::string source;
};

struct HotSpot {
  std::string file;
  int line = 0;
  double percent = 0;  // of the samples
  std::string text;    // the source line
  std::string remark;  // the compiler's reasons about it; may be empty
};

struct Diagnosis {
  std::string bottleneck;  // an id of docs/design.md 11
  double score = 0;        // share of the time that it can explain, 0 to 1
  std::vector<std::string> evidence;
  std::string action;
  int line = 0;  // of kernel.cpp, the hottest it concerns; 0: none in particular
  // What removing the cause altogether would gain, for comparison with what is measured later.
  double predicted_speedup = 1;
};

// What became of one source of metrics.
struct ProviderNote {
  std::string name;
  std::string verdict;  // ran, absent, refused, skipped, failed
  std::string detail;   // why, and what to install or allow; may be empty when it ran
  double seconds = 0;
};

struct Profile {
  std::vector<Metric> metrics;       // each tag once, from the best source there was
  std::vector<Diagnosis> diagnosis;  // at most three, the one that explains most first
  std::vector<HotSpot> hot;          // hottest first
  std::vector<ProviderNote> providers;
  // Better or worse than the best version when it was measured, and by which count; empty: there
  // was none.
  std::string judgement;
  [[nodiscard]] const Metric* Find(std::string_view tag) const;
};

}  // namespace pragma
