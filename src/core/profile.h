// Profile: what was measured about a verified kernel, and what it means.
#pragma once

#include <string>
#include <vector>

namespace pragma {

struct Metric {
  std::string tag;
  double value = 0;
  std::string unit;
  std::string source;  // pmu, exact count, simulated, static, sampled, estimated
};

struct HotSpot {
  std::string file;
  int line = 0;
  double percent = 0;
};

struct Diagnosis {
  std::string bottleneck;  // an id of docs/design.md 11
  double score = 0;
  std::vector<std::string> evidence;
  std::string action;
};

struct Profile {
  std::vector<Metric> metrics;
  std::vector<Diagnosis> diagnosis;
  std::vector<HotSpot> hot;
};

}  // namespace pragma
