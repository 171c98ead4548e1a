// Provider "clocks": times and faults of warm calls, on all threads and on one.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/profile.h"
#include "machine/machine.h"
#include "profile/builds.h"
#include "profile/providers.h"
#include "profile/workpiece.h"

namespace pragma {
namespace {

// Duration of the warm calls that are measured. A quarter of it passes unmeasured before them.
constexpr const char* kSeconds = "seconds=0.15";

struct Clocked {
  double calls = 1;
  double median = 0;
  double wall = 0;
  double user = 0;
  double system = 0;
  double faults = 0;
  double switches = 0;
  double hertz = 0;
  std::vector<double> threads;  // seconds of each thread
};

Clocked Read(const HostReport& report) {
  const auto number = [&](const char* word) { return report.Number(word).value_or(0); };
  Clocked clocked{.calls = std::max(number("calls"), 1.0),
                  .median = number("median_seconds"),
                  .wall = number("wall_seconds"),
                  .user = number("user_seconds"),
                  .system = number("system_seconds"),
                  .faults = number("minor_faults"),
                  .switches = number("involuntary_switches"),
                  .hertz = number("core_hertz"),
                  .threads = {}};
  for (const std::vector<std::string>& line : report.lines) {
    if (line.size() >= 2 && line[0] == "thread")
      clocked.threads.push_back(std::strtod(line[1].c_str(), nullptr));
  }
  return clocked;
}

// Ticks are coarse, so both parts of this share come from the Linux kernel's own accounting.
double SystemShare(const Clocked& clocked) {
  const double processor = clocked.user + clocked.system;
  return processor > 0 ? clocked.system / processor : 0;
}

// Threads that spin while one works add to the processor time. Therefore the run on one thread
// counts as well.
void AddSystemShare(const Clocked& all, const Clocked& one, MetricSet& metrics) {
  if (all.user + all.system <= 0) return;
  metrics.Add("system_share", std::max(SystemShare(all), SystemShare(one)), "1", "measured");
}

double BusySeconds(const Clocked& clocked) {
  return std::accumulate(clocked.threads.begin(), clocked.threads.end(), 0.0);
}

// `asleep` comes from a run in which waiting threads sleep, since spinning looks like work. Waking
// threads takes time that the timed kernel does not spend, so cpu_per_wall comes from the other
// run, `all`.
void AddThreads(const Clocked& all, const Clocked& asleep, int threads, MetricSet& metrics) {
  if (const double busy = BusySeconds(all); busy > 0 && all.wall > 0)
    metrics.Add("cpu_per_wall", busy / all.wall, "1", "measured");
  const double busy = BusySeconds(asleep);
  if (busy <= 0) return;
  metrics.Add("thread_imbalance", *std::ranges::max_element(asleep.threads) * threads / busy, "1",
              "measured");
  if (asleep.wall > 0) {
    metrics.Add("waiting_share", std::clamp(1 - busy / (asleep.wall * threads), 0.0, 1.0), "1",
                "measured");
  }
}

void AddAll(const Clocked& all, int threads, MetricSet& metrics) {
  metrics.Add("wall_ms", all.median * 1e3, "ms", "measured");
  metrics.Add("threads", threads, "1", "measured");
  metrics.Add("page_faults", all.faults / all.calls, "1", "measured");
  metrics.Add("context_switches", all.switches / all.calls, "1", "measured");
}

// `together` is the time of one call with all threads.
void AddOne(const Clocked& one, double together, int threads, MetricSet& metrics) {
  metrics.Add("wall_1_ms", one.median * 1e3, "ms", "measured");
  if (together > 0)
    metrics.Add("thread_scaling", one.median / (threads * together), "1", "measured");
  if (one.hertz <= 0) return;
  metrics.Add("core_clock", one.hertz * 1e-9, "GHz", "measured");
  metrics.Add("cycles", one.median * one.hertz, "1", "estimated");
}

}  // namespace

Result<ProviderNote> AddClocks(Workpiece& piece) {
  ProviderNote note{.name = "clocks", .verdict = "ran", .detail = {}};
  const int threads = piece.subject.machine.threads;
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  HostRun run{.mode = "clocks", .object = kPlainObject, .options = {kSeconds}, .threads = threads};
  const HostReport together = TRY(RunHost(piece, run));
  run.waiting_sleeps = true;
  const HostReport asleep = threads > 1 ? TRY(RunHost(piece, run)) : together;
  run.threads = 1;
  const HostReport alone = threads > 1 ? TRY(RunHost(piece, run)) : together;
  for (const HostReport* report : {&together, &asleep, &alone}) {
    if (report->failure.empty()) continue;
    note.verdict = "failed";
    note.detail = report->failure;
    return note;
  }
  const Clocked all = Read(together);
  AddAll(all, threads, piece.metrics);
  AddThreads(all, Read(asleep), threads, piece.metrics);
  const Clocked one = Read(alone);
  AddSystemShare(all, one, piece.metrics);
  const double time = piece.subject.time_ms > 0 ? piece.subject.time_ms : all.median * 1e3;
  // Both times are of the same work. Other programs disturbed the shorter one less.
  AddOne(one, std::min(all.median, time * 1e-3), threads, piece.metrics);
  piece.metrics.Add("time_ms", time, "ms", "measured");
  return note;
}

}  // namespace pragma
