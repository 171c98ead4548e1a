#include "report/roofs.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/profile.h"
#include "core/task.h"

namespace pragma {
namespace {

constexpr double kLineBytes = 64;

// Returns a figure that may be used as a divisor, or 0 if there is none.
double Positive(const Profile& profile, std::string_view tag) {
  const Metric* metric = profile.Find(tag);
  return metric != nullptr && std::isfinite(metric->value) && metric->value > 0 ? metric->value : 0;
}

struct Level {
  const char* name;
  const char* lines;  // metric with the lines moved from that level
  const char* share;
};
constexpr std::array<Level, 3> kLevels{{{"L2", "l1_misses", "l2_traffic_share"},
                                        {"L3", "l2_misses", "l3_traffic_share"},
                                        {"DRAM", "l3_misses", "dram_traffic_share"}}};

}  // namespace

std::optional<Roofs> RoofsFrom(const Task& task, const Profile& profile) {
  const double seconds = Positive(profile, "time_ms") * 1e-3;
  const double compute = Positive(profile, "compute_share");
  const double memory = Positive(profile, "bandwidth_share");
  const auto bytes = static_cast<double>(task.compulsory_bytes);
  if (seconds <= 0 || compute <= 0 || memory <= 0 || bytes <= 0 || task.flops <= 0)
    return std::nullopt;
  Roofs roofs{.gflops = task.flops / seconds / compute * 1e-9, .intensity = task.flops / bytes};
  roofs.bandwidth.push_back({"task", bytes / seconds / memory * 1e-9});
  for (const Level& level : kLevels) {
    const double lines = Positive(profile, level.lines);
    const double share = Positive(profile, level.share);
    if (lines > 0 && share > 0)
      roofs.bandwidth.push_back({level.name, lines * kLineBytes / seconds / share * 1e-9});
  }
  return roofs;
}

}  // namespace pragma
