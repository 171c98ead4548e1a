// Provider "roofline": what the call achieves, compared with this machine's measured peaks.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/result.h"
#include "core/profile.h"
#include "core/task.h"
#include "machine/machine.h"
#include "profile/providers.h"
#include "profile/workpiece.h"

namespace pragma {
namespace {

constexpr double kBytesOfLine = 64;

// Returns the copy bandwidth in GB/s for a working set of `bytes`, taken from the next larger
// working set that was measured.
double CopyGbs(const Machine& machine, double bytes) {
  for (const Bandwidth& level : machine.bandwidth) {
    if (static_cast<double>(level.working_set_bytes) >= bytes) return level.copy_gbs;
  }
  return machine.bandwidth.empty() ? 0 : machine.bandwidth.back().copy_gbs;
}

// Returns the bandwidth of a cache level from working sets that fill most of it. Level 4 is memory.
double LevelGbs(const Machine& machine, int level) {
  double below = 0;  // bytes of the previous level, over all threads
  double size = 0;
  for (const CacheLevel& cache : machine.caches) {
    const double instances =
        std::max(1.0, static_cast<double>(machine.threads) / std::max(cache.shared_by, 1));
    const double bytes = static_cast<double>(machine.usable_bytes(cache)) * instances;
    if (cache.level == level - 1) below = bytes;
    if (cache.level == level) size = bytes;
  }
  return CopyGbs(machine, size > 0 ? std::max(size * 0.5, below * 1.5) : 1e18);
}

void AddTraffic(const Workpiece& piece, double seconds, MetricSet& metrics) {
  const auto add = [&](const char* tag, const char* misses, int level) {
    const std::optional<double> lines = piece.metrics.Get(misses);
    const double gbs = LevelGbs(piece.subject.machine, level);
    if (lines && gbs > 0)
      metrics.Add(tag, *lines * kBytesOfLine / (gbs * 1e9) / seconds, "1", "estimated");
  };
  add("l2_traffic_share", "l1_misses", 2);
  add("l3_traffic_share", "l2_misses", 3);
  add("dram_traffic_share", "l3_misses", 4);
}

}  // namespace

Result<ProviderNote> AddRoofline(Workpiece& piece) {
  ProviderNote note{.name = "roofline", .verdict = "ran", .detail = {}};
  const double seconds = piece.metrics.Get("time_ms").value_or(0) * 1e-3;
  const Machine& machine = piece.subject.machine;
  const Task& task = piece.subject.task();
  if (seconds <= 0 || machine.peak_gflops <= 0 || machine.bandwidth.empty()) {
    note.verdict = "skipped";
    note.detail = "the time of a call or the machine's own figures are not known";
    return note;
  }
  const double compulsory = static_cast<double>(task.compulsory_bytes);
  const double ring = static_cast<double>(task.set_bytes() * piece.ring.sets());
  const double memory = compulsory / (CopyGbs(machine, ring) * 1e9);
  const double compute = task.flops / (machine.peak_gflops * 1e9);
  const double bound = std::max(memory, compute);
  piece.metrics.Add("bound_ms", bound * 1e3, "ms", "estimated");
  piece.metrics.Add("roofline_share", bound / seconds, "1", "estimated");
  piece.metrics.Add("compute_share", compute / seconds, "1", "estimated");
  piece.metrics.Add("bandwidth_share", memory / seconds, "1", "estimated");
  AddTraffic(piece, seconds, piece.metrics);
  note.detail =
      memory > compute ? "memory bandwidth is the nearer roof" : "arithmetic is the nearer roof";
  return note;
}

}  // namespace pragma
