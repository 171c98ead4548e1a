#include "profile/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "base/text.h"
#include "core/profile.h"
#include "machine/machine.h"
#include "profile/diagnosis.h"
#include "profile/providers.h"
#include "profile/rules.h"
#include "profile/subject.h"
#include "profile/workpiece.h"

namespace pragma {
namespace {

constexpr std::size_t kHotLines = 5;
constexpr double kLeastHotShare = 0.01;
constexpr std::size_t kShownBytes = 160;

struct Provider {
  std::string_view name;
  Result<ProviderNote> (*add)(Workpiece&);
  bool needs_assembly = false;
  bool times = false;  // takes the machine's lock itself, exclusively
};

constexpr std::array kInOrder{
    Provider{.name = "clocks", .add = AddClocks, .times = true},
    Provider{.name = "counters", .add = AddCounters, .times = true},
    Provider{.name = "samples", .add = AddSamples, .needs_assembly = true, .times = true},
    Provider{.name = "counts", .add = AddCounts, .needs_assembly = true},
    Provider{.name = "trace", .add = AddTrace, .needs_assembly = true},
    Provider{.name = "mca", .add = AddHotLoop, .needs_assembly = true},
    Provider{.name = "roofline", .add = AddRoofline},
};

Result<ProviderNote> Timed(Workpiece& piece, Result<ProviderNote> (*add)(Workpiece&)) {
  const TimePoint start = std::chrono::steady_clock::now();
  Result<ProviderNote> note = add(piece);
  if (note) note->seconds = Since(start).count();
  return note;
}

// A provider that does not time anything still holds a shared lock, so that other processes do not
// time meanwhile.
Result<ProviderNote> Add(Workpiece& piece, const Provider& provider) {
  if (provider.times) return Timed(piece, provider.add);
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  return Timed(piece, provider.add);
}

// Runs the compilers in parallel. Their results go to different parts of the workpiece.
Result<void> Compile(Workpiece& piece) {
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kShared));
  std::future<Result<ProviderNote>> remarks =
      std::async(std::launch::async, [&piece] { return Timed(piece, AddRemarks); });
  Result<ProviderNote> builds = Timed(piece, AddBuilds);
  Result<ProviderNote> reasons = remarks.get();
  piece.notes.push_back(TRY(std::move(builds)));
  piece.notes.push_back(TRY(std::move(reasons)));
  return {};
}

Result<void> Observe(Workpiece& piece, const ProfileProgress& progress) {
  if (progress) progress("profile: building");
  TRY(Compile(piece));
  for (const Provider& provider : kInOrder) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while profiling");
    if (progress) progress(fmt::format("profile: {}", provider.name));
    if (provider.needs_assembly && !piece.builds->failure.empty()) {
      piece.notes.push_back({.name = std::string(provider.name),
                             .verdict = "skipped",
                             .detail = "there is no instrumented build"});
    } else {
      piece.notes.push_back(TRY(Add(piece, provider)));
    }
  }
  return {};
}

double Heat(const Workpiece& piece, const LineFigures& line) {
  return piece.samples > 0 ? line.samples : line.instructions;
}

std::vector<HotSpot> HotLines(const Workpiece& piece) {
  const std::vector<std::string> source = SplitLines(piece.subject.candidate.source());
  double all = piece.samples;
  for (const auto& [line, figures] : piece.lines)
    all += piece.samples > 0 ? 0 : figures.instructions;
  std::vector<HotSpot> hot;
  for (const auto& [line, figures] : piece.lines) {
    const double share = all > 0 ? Heat(piece, figures) / all : 0;
    if (line < 1 || static_cast<std::size_t>(line) > source.size() || share < kLeastHotShare)
      continue;
    const auto remark = piece.remarks.find(line);
    hot.push_back({.file = "kernel.cpp",
                   .line = line,
                   .percent = share * 100,
                   .text = Shorten(Trim(ToValidUtf8(source[static_cast<std::size_t>(line) - 1])),
                                   kShownBytes),
                   .remark = remark == piece.remarks.end() ? "" : remark->second});
  }
  std::ranges::stable_sort(hot, std::greater{}, &HotSpot::percent);
  if (hot.size() > kHotLines) hot.resize(kHotLines);
  return hot;
}

SiteFigures Sites(const Workpiece& piece) {
  SiteFigures sites;
  for (const auto& [line, figures] : piece.lines) {
    if (line < 1) continue;
    sites.push_back({.figure = "hottest", .line = line, .value = Heat(piece, figures)});
    sites.push_back({.figure = "l1_misses", .line = line, .value = figures.l1_misses});
    sites.push_back({.figure = "line_splits", .line = line, .value = figures.line_splits});
  }
  return sites;
}

}  // namespace

Result<Profile> ProfileKernel(const ProfileSubject& subject, const RuleSet& rules,
                              const ProfileProgress& progress) {
  Workpiece piece = TRY(OpenWorkpiece(subject));
  TRY(Observe(piece, progress));
  if (progress && !subject.tools.empty()) progress("profile: foreign tools");
  TRY(AddForeignTools(piece));
  Profile profile{.hot = HotLines(piece), .providers = std::move(piece.notes)};
  const SiteFigures sites = Sites(piece);
  profile.metrics = std::move(piece.metrics).Take();
  profile.diagnosis = Diagnose(rules, profile.metrics, sites);
  return profile;
}

}  // namespace pragma
