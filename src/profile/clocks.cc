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

// A kernel that is faster than perfect scaling was disturbed on one thread, and so was one whose
// busiest thread works longer than its speedup allows. It is measured again, so many times at most.
constexpr double kPlausibleScaling = 1.15;
constexpr int kRepeats = 2;

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

// 1: all threads work equally long.
double Imbalance(const Clocked& asleep, int threads) {
  const double busy = BusySeconds(asleep);
  return busy > 0 ? *std::ranges::max_element(asleep.threads) * threads / busy : 1;
}

// `asleep` comes from a run in which waiting threads sleep, since spinning looks like work. Waking
// threads takes time that the timed kernel does not spend, so cpu_per_wall comes from the other
// run, `all`.
void AddThreads(const Clocked& all, const Clocked& asleep, int threads, MetricSet& metrics) {
  if (const double busy = BusySeconds(all); busy > 0 && all.wall > 0)
    metrics.Add("cpu_per_wall", busy / all.wall, "1", "measured");
  const double busy = BusySeconds(asleep);
  if (busy <= 0) return;
  metrics.Add("thread_imbalance", Imbalance(asleep, threads), "1", "measured");
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
double Scaling(const Clocked& one, double together, int threads) {
  return together > 0 ? one.median / (threads * together) : 1;
}

void AddOne(const Clocked& one, double together, int threads, MetricSet& metrics) {
  metrics.Add("wall_1_ms", one.median * 1e3, "ms", "measured");
  if (together > 0) metrics.Add("thread_scaling", Scaling(one, together, threads), "1", "measured");
  if (one.hertz <= 0) return;
  metrics.Add("core_clock", one.hertz * 1e-9, "GHz", "measured");
  metrics.Add("cycles", one.median * one.hertz, "1", "estimated");
}

// The three runs of AddClocks. Empty `failure`: they succeeded.
struct Runs {
  Clocked all;     // all threads
  Clocked asleep;  // all threads, and those that wait sleep
  Clocked one;     // one thread
  std::string failure;
};

// Runs the kernel, and keeps the run in `kept` if it was less disturbed than the one before.
Result<void> RunAgain(Workpiece& piece, const HostRun& run, Clocked& kept, std::string& failure) {
  const HostReport report = TRY(RunHost(piece, run));
  if (!report.failure.empty()) failure = report.failure;
  const Clocked clocked = Read(report);
  if (kept.median == 0 || clocked.median < kept.median) kept = clocked;
  return {};
}

// `known` is the time of a call that was measured before; 0: none was.
Result<Runs> RunAll(Workpiece& piece, int threads, double known) {
  const HostRun run{
      .mode = "clocks", .object = kPlainObject, .options = {kSeconds}, .threads = threads};
  HostRun sleeping = run;
  sleeping.waiting_sleeps = true;
  HostRun single = sleeping;
  single.threads = 1;
  Runs runs;
  TRY(RunAgain(piece, run, runs.all, runs.failure));
  if (threads == 1) {
    runs.asleep = runs.one = runs.all;
    return runs;
  }
  TRY(RunAgain(piece, sleeping, runs.asleep, runs.failure));
  TRY(RunAgain(piece, single, runs.one, runs.failure));
  for (int i = 0; i < kRepeats && runs.failure.empty(); ++i) {
    const double together = known > 0 ? std::min(runs.all.median, known) : runs.all.median;
    const double scaling = Scaling(runs.one, together, threads);
    if (scaling * Imbalance(runs.asleep, threads) < kPlausibleScaling) break;
    TRY(RunAgain(piece, single, runs.one, runs.failure));
    TRY(RunAgain(piece, sleeping, runs.asleep, runs.failure));
  }
  return runs;
}

}  // namespace

Result<ProviderNote> AddClocks(Workpiece& piece) {
  ProviderNote note{.name = "clocks", .verdict = "ran", .detail = {}};
  const int threads = piece.subject.machine.threads;
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  const Runs runs = TRY(RunAll(piece, threads, piece.subject.time_ms * 1e-3));
  if (!runs.failure.empty()) {
    note.verdict = "failed";
    note.detail = runs.failure;
    return note;
  }
  AddAll(runs.all, threads, piece.metrics);
  AddThreads(runs.all, runs.asleep, threads, piece.metrics);
  AddSystemShare(runs.all, runs.one, piece.metrics);
  const double time = piece.subject.time_ms > 0 ? piece.subject.time_ms : runs.all.median * 1e3;
  // Both times are of the same work. Other programs disturbed the shorter one less.
  AddOne(runs.one, std::min(runs.all.median, time * 1e-3), threads, piece.metrics);
  piece.metrics.Add("time_ms", time, "ms", "measured");
  return note;
}

}  // namespace pragma
