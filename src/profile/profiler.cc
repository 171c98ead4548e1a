#include "profile/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <span>
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

constexpr Provider kBuilds{.name = "assembly", .add = AddBuilds};
constexpr Provider kRemarks{.name = "remarks", .add = AddRemarks};

constexpr std::array kTiming{
    Provider{.name = "clocks", .add = AddClocks, .times = true},
    Provider{.name = "counters", .add = AddCounters, .times = true},
    Provider{.name = "samples", .add = AddSamples, .needs_assembly = true, .times = true},
};

constexpr std::array kCounting{
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

Result<ProviderNote> Run(Workpiece& piece, const Provider& provider) {
  if (!provider.needs_assembly || piece.builds->failure.empty()) return Add(piece, provider);
  return ProviderNote{.name = std::string(provider.name),
                      .verdict = "skipped",
                      .detail = "the instrumented build failed"};
}

Result<void> RunAll(Workpiece& piece, std::span<const Provider> providers,
                    const ProfileProgress& progress) {
  for (const Provider& provider : providers) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while profiling");
    if (progress) progress(fmt::format("profile: {}", provider.name));
    piece.notes.push_back(TRY(Run(piece, provider)));
  }
  return {};
}

// The compilers that are asked for remarks take seconds, and would disturb what is timed. They run
// beside the counting and simulating providers, which use one thread. Their results go to a part of
// the workpiece that no other provider uses.
Result<void> Observe(Workpiece& piece, const ProfileProgress& progress) {
  if (progress) progress("profile: building");
  piece.notes.push_back(TRY(Add(piece, kBuilds)));
  TRY(RunAll(piece, kTiming, progress));
  std::future<Result<ProviderNote>> remarks =
      std::async(std::launch::async, [&piece] { return Add(piece, kRemarks); });
  const Result<void> counted = RunAll(piece, kCounting, progress);
  if (counted && progress) progress("profile: remarks");
  Result<ProviderNote> reasons = remarks.get();
  TRY(counted);
  piece.notes.insert(piece.notes.begin() + 1, TRY(std::move(reasons)));
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
