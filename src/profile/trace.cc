// Provider "trace": caches, TLBs, aliasing and branches, simulated from the kernel's own addresses
// with this machine's geometry.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "build/trace_calls.h"
#include "core/profile.h"
#include "core/task.h"
#include "machine/machine.h"
#include "profile/builds.h"
#include "profile/hardware.h"
#include "profile/providers.h"
#include "profile/workpiece.h"

namespace pragma {
namespace {

// Limit on the simulated accesses, about one and a half seconds. A call that needs more is
// simulated up to this limit.
constexpr double kBudget = 40e6;
constexpr std::size_t kLineBytes = 64;

std::string Shape(const std::string& name, std::size_t bytes, int ways) {
  const std::size_t sets = bytes / kLineBytes / static_cast<std::size_t>(std::max(ways, 1));
  return fmt::format("{0}_sets={1} {0}_ways={2}", name, std::max<std::size_t>(sets, 1), ways);
}

int WaysOf(const CacheLevel& cache) {
  if (cache.ways > 0) return cache.ways;
  return cache.level == 1 ? 8 : 16;
}

std::vector<std::string> Geometry(const Machine& machine) {
  std::string text;
  for (const CacheLevel& cache : machine.caches) {
    if (cache.level < 1 || cache.level > 3 || cache.bytes == 0) continue;
    text +=
        Shape(fmt::format("l{}", cache.level), machine.usable_bytes(cache), WaysOf(cache)) + " ";
  }
  for (const TlbSpec& tlb : DataTlbs(ThisCpuid())) {
    const int ways = tlb.ways > 0 ? tlb.ways : tlb.entries;
    if (tlb.entries <= 0 || tlb.level > 2) continue;
    const std::string name = tlb.level == 1 ? "dtlb" : "dtlb2";
    text += fmt::format("{0}_sets={1} {0}_ways={2} ", name, std::max(tlb.entries / ways, 1), ways);
  }
  text += "line=64";
  return Split(text, ' ');
}

// Adds the sizes of the tensors in bytes, so that the input sets between two uses of one set can be
// simulated.
void AddTensors(const Task& task, std::vector<std::string>& options) {
  std::size_t index = task.dims.empty() ? 0 : 1;
  for (const std::vector<TensorSpec>* tensors : {&task.arguments, &task.outputs}) {
    for (const TensorSpec& tensor : *tensors)
      options.push_back(fmt::format("bytes{}={}", index++, tensor.bytes()));
  }
}

void AddLines(const HostReport& report, Workpiece& piece) {
  const std::vector<TraceSite>& sites = piece.builds->trace.sites;
  for (const std::vector<std::string>& line : report.lines) {
    if (line.size() < 5 || line[0] != "site") continue;
    const std::size_t site = std::strtoull(line[1].c_str(), nullptr, 10);
    if (site >= sites.size()) continue;
    LineFigures& figures = piece.lines[sites[site].source_line];
    figures.l1_misses += std::strtod(line[3].c_str(), nullptr);
    figures.line_splits += std::strtod(line[4].c_str(), nullptr);
  }
}

// Adds the counts of the whole call, scaled up from the simulated part.
void AddCounts(const HostReport& report, double scale, MetricSet& metrics) {
  const auto number = [&](const char* word) { return report.Number(word).value_or(0); };
  const auto add = [&](const char* tag, double value) {
    metrics.Add(tag, value * scale, "1", "simulated");
  };
  add("l1_misses", number("l1_misses"));
  add("l2_misses", number("l2_misses"));
  add("l3_misses", number("l3_misses"));
  add("line_splits", number("line_splits"));
  add("page_splits", number("page_splits"));
  add("dtlb_misses", number("dtlb_misses"));
  add("dtlb2_misses", number("dtlb2_misses"));
  add("aliasing_4k", number("aliased_loads"));
  add("branch_mispredicts", number("mispredictions"));
  add("prefetched_lines", number("prefetched_lines"));
}

void AddShares(const HostReport& report, double scale, MetricSet& metrics) {
  const auto number = [&](const char* word) { return report.Number(word).value_or(0); };
  const auto share = [&](const char* tag, double part, double whole) {
    if (whole > 0) metrics.Add(tag, part / whole, "1", "simulated");
  };
  share("sim_l1_miss_rate", number("l1_misses"), number("accesses"));
  share("split_share", number("line_splits"), number("accesses"));
  share("line_use", number("used_bytes") / 64, number("used_lines"));
  share("streamed_share", number("streamed_misses"), number("l1_misses"));
  share("conflict_share", number("conflict_misses"), number("l1_misses"));
  share("mispredict_share", number("mispredictions"), number("branches"));
  const double thousands = metrics.Get("instructions").value_or(0) / 1e3 / scale;
  share("l1_mpki", number("l1_misses"), thousands);
  share("l2_mpki", number("l2_misses"), thousands);
  share("l3_mpki", number("l3_misses"), thousands);
}

// Returns the ratio of the whole call's accesses to the simulated ones.
double ScaleOf(const HostReport& report, double accesses) {
  const double simulated = report.Number("accesses").value_or(0);
  if (simulated == 0) return 1;
  if (report.Number("closed").value_or(0) > 0) return std::max(accesses / simulated, 1.0);
  return (simulated + report.Number("unseen").value_or(0)) / simulated;
}

// Says which part of the call was simulated. The text is empty if all of it was.
std::string PartOfCall(const HostReport& report, double scale) {
  if (report.Number("unseen").value_or(0) > 0) {
    return fmt::format("the calling thread's {:.0f} % of a call; scaled to all of it", 100 / scale);
  }
  if (report.Number("closed").value_or(0) == 0) return "";
  return fmt::format("the first {:.0f} % of a call, from cold caches; scaled to all of it",
                     100 / scale);
}

void AddCacheNote(const Machine& machine, ProviderNote& note) {
  const std::size_t usable = machine.usable_last_level_bytes();
  if (usable >= machine.last_level_cache_bytes()) return;
  note.detail +=
      fmt::format("{}{} of the last cache's {} serve us, by measurement",
                  note.detail.empty() ? "" : "; ", FormatBytes(static_cast<double>(usable)),
                  FormatBytes(static_cast<double>(machine.last_level_cache_bytes())));
}

}  // namespace

Result<ProviderNote> AddTrace(Workpiece& piece) {
  ProviderNote note{.name = "trace", .verdict = "ran", .detail = {}};
  const double accesses =
      piece.metrics.Get("loads").value_or(0) + piece.metrics.Get("stores").value_or(0);
  HostRun run{.mode = "trace", .object = kTracedObject, .options = Geometry(piece.subject.machine)};
  AddTensors(piece.subject.task(), run.options);
  run.options.push_back(fmt::format("budget={:.0f}", kBudget));
  run.options.push_back(fmt::format("warm={}", accesses > kBudget / 2 ? 0 : 1));
  const HostReport report = TRY(RunHost(piece, run));
  if (!report.failure.empty()) {
    note.verdict = "failed";
    note.detail = report.failure;
    return note;
  }
  const double scale = ScaleOf(report, accesses);
  AddCounts(report, scale, piece.metrics);
  AddShares(report, scale, piece.metrics);
  AddLines(report, piece);
  piece.metrics.Add("simulated_share", 1 / scale, "1", "simulated");
  note.detail = PartOfCall(report, scale);
  AddCacheNote(piece.subject.machine, note);
  return note;
}

}  // namespace pragma
