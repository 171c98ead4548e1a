#include "profile/callgrind.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "core/profile.h"
#include "profile/cache_shape.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kReport = "callgrind.out";
constexpr std::size_t kShownLines = 3;

CallgrindOutcome CallgrindEnded(std::string verdict, std::string detail) {
  CallgrindOutcome outcome;
  outcome.note = {.name = "callgrind",
                  .verdict = std::move(verdict),
                  .detail = std::move(detail),
                  .seconds = 0};
  return outcome;
}

std::string Geometry(const CacheShape& shape) {
  const CacheShape fit = WithPowerOfTwoSets(shape);
  return fmt::format("{},{},{}", fit.bytes, fit.ways, fit.line);
}

// Counts only the last call: each entry of the kernel resets the counts to zero, while the caches
// keep their contents from the previous call.
Words Command(const std::string& valgrind, const CacheShapes& caches, const CacheShape& last) {
  return {valgrind,
          "--tool=callgrind",
          "--collect-atstart=no",
          "--toggle-collect=pragma_kernel",
          "--zero-before=pragma_kernel",
          "--cache-sim=yes",
          "--branch-sim=yes",
          "--I1=" + Geometry(caches.instructions),
          "--D1=" + Geometry(caches.data),
          "--LL=" + Geometry(last),
          "--compress-pos=no",
          "--compress-strings=no",
          std::string("--callgrind-out-file=/out/") + kReport,
          "/out/kernel"};
}

// One report, or the reason why there is none.
struct Watched {
  std::optional<CallgrindReport> report;
  std::string verdict;
  std::string trouble;
};

std::string Trouble(const Jail::RunOutcome& run) {
  if (run.err.find("unhandled instruction bytes") != std::string::npos)
    return "the kernel uses instructions that valgrind does not know (AVX-512?)";
  return "the kernel under callgrind: " + run.outcome.Describe();
}

Result<Watched> Watch(const CallgrindParts& parts, const Workshop& shop, Words argv,
                      const InstrumentedCall& call) {
  JailSpec spec = shop.Spec(std::move(argv), Workshop::Stage::kWriting);
  spec.env["OMP_NUM_THREADS"] = "1";
  spec.fds = {{call.inputs->fd(), kInputsFd}};
  const Jail::RunOutcome run = TRY(parts.jail.Run(spec, {.wall = call.limit}));
  if (run.timed_out) {
    return Watched{.report = {},
                   .verdict = "skipped",
                   .trouble = "not done within " + FormatSeconds(call.limit.count())};
  }
  if (!run.ok()) return Watched{.report = {}, .verdict = "failed", .trouble = Trouble(run)};
  const Result<std::string> text = shop.ReadOutput(kReport);
  Watched watched{
      .report = text ? ReadCallgrind(*text) : std::nullopt, .verdict = "ran", .trouble = {}};
  if (!watched.report || watched.report->total.instructions <= 0) {
    watched = {.report = {}, .verdict = "failed", .trouble = "callgrind left no counts"};
  }
  return watched;
}

Metric Simulated(const char* tag, double value) {
  return {.tag = tag, .value = value, .unit = "1", .source = "simulated"};
}

std::vector<Metric> Metrics(const CallgrindOutcome& outcome) {
  const CallgrindCounts& total = outcome.second.total;
  std::vector<Metric> metrics{Simulated("l1_misses", total.l1_misses()),
                              Simulated("l2_misses", total.last_misses())};
  if (outcome.third) metrics.push_back(Simulated("l3_misses", outcome.third->total.last_misses()));
  metrics.push_back(Simulated("branch_mispredicts", total.branch_mispredicts));
  if (total.branches > 0) {
    metrics.push_back(Simulated("mispredict_share", total.branch_mispredicts / total.branches));
  }
  return metrics;
}

std::string Describe(const CallgrindOutcome& outcome) {
  const CallgrindCounts& total = outcome.second.total;
  std::string text = fmt::format(
      "one warm call with AVX2 without FMA: {:.0f} instructions, {:.0f} loads, {:.0f} stores, "
      "{:.0f} L1 and {:.0f} L2 misses",
      total.instructions, total.loads, total.stores, total.l1_misses(), total.last_misses());
  if (outcome.third) text += fmt::format(", {:.0f} L3 misses", outcome.third->total.last_misses());
  text += fmt::format(", {:.0f} of {:.0f} branches mispredicted", total.branch_mispredicts,
                      total.branches);
  for (std::size_t i = 0; i < std::min(kShownLines, outcome.second.lines.size()); ++i) {
    const CallgrindLine& line = outcome.second.lines[i];
    text += fmt::format(
        "; line {}: {:.0f} % of the instructions, {:.0f} L1 misses", line.line,
        100 *
            std::min((line.self.instructions + line.called_instructions) / total.instructions, 1.0),
        line.self.l1_misses());
  }
  return text;
}

std::string CacheRemark(const CallgrindParts& parts, bool has_third) {
  std::string text = "AVX2 without FMA, one thread, second call";
  if (parts.caches.assumed) text += "; cache sizes are not reported here, common ones are used";
  if (!has_third) text += "; no third level";
  return text;
}

Result<CallgrindOutcome> WatchBoth(const CallgrindParts& parts, const Workshop& shop,
                                   const std::string& valgrind, const InstrumentedCall& call) {
  Watched second =
      TRY(Watch(parts, shop, Command(valgrind, parts.caches, parts.caches.second), call));
  if (!second.report) return CallgrindEnded(second.verdict, second.trouble);
  CallgrindOutcome outcome =
      CallgrindEnded("ran", CacheRemark(parts, parts.caches.third.bytes > 0));
  outcome.second = std::move(*second.report);
  if (parts.caches.third.bytes > 0) {
    Watched third =
        TRY(Watch(parts, shop, Command(valgrind, parts.caches, parts.caches.third), call));
    if (!third.report) outcome.note.detail += "; with the third level: " + third.trouble;
    outcome.third = std::move(third.report);
  }
  outcome.metrics = Metrics(outcome);
  outcome.text = Describe(outcome);
  return outcome;
}

}  // namespace

Words CallgrindFlags(const Words& flags) {
  Words kept;
  for (const std::string& flag : flags) {
    const bool target = flag.starts_with("-march=") || flag.starts_with("-mtune=") ||
                        flag.starts_with("-mcpu=") || flag.starts_with("-mavx") ||
                        flag.starts_with("-mno-avx") || flag.starts_with("-mprefer-vector-width") ||
                        flag == "-mfma";
    if (!target) kept.push_back(flag);
  }
#if defined(__x86_64__)
  kept.insert(kept.end(), {"-march=x86-64-v3", "-mno-fma"});
#endif
  kept.emplace_back("-g1");
  return kept;
}

Result<CallgrindOutcome> RunCallgrind(const CallgrindParts& parts, const Candidate& candidate,
                                      const InstrumentedCall& call) {
  const TimePoint begin = std::chrono::steady_clock::now();
  const std::string valgrind = FindProgram("valgrind", parts.folders);
  if (valgrind.empty())
    return CallgrindEnded("absent", "valgrind is not installed (package valgrind)");
  const Toolchain toolchain = TRY(parts.toolchains.Find(candidate.compiler));
  if (!toolchain.missing.empty()) return CallgrindEnded("absent", toolchain.missing);
  Candidate changed = candidate;
  changed.flags = CallgrindFlags(candidate.flags);
  InstrumentedCall twice = call;
  twice.calls = 2;
  const Workshop shop =
      TRY(Workshop::Open(parts.jail, toolchain, changed, parts.kernel_header, twice));
  const std::string failure = TRY(shop.BuildExecutable(changed, shop.Libraries(changed)));
  if (!failure.empty()) return CallgrindEnded("failed", "with AVX2 and without FMA: " + failure);
  CallgrindOutcome outcome = TRY(WatchBoth(parts, shop, valgrind, twice));
  outcome.note.seconds = Since(begin).count();
  return outcome;
}

}  // namespace pragma
