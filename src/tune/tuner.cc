#include "tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/check.h"
#include "core/status.h"
#include "core/tuning.h"
#include "tune/halving.h"
#include "tune/space.h"
#include "tune/variant_bench.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

// Shares of the time limit after which no further variants are built or checked.
constexpr double kBuildShare = 0.4;
constexpr double kCheckShare = 0.55;
// A variant that is slower than the default by this factor cannot win, and may take very long.
constexpr double kHopeless = 20;
constexpr Seconds kLeastCallLimit{0.5};
constexpr double kUnlimited = 1e9;

class Tuner final {
 public:
  Tuner(VariantBench& bench, const Candidate& candidate, const TunerOptions& options,
        const TunerProgress& progress)
      : bench_(bench), candidate_(candidate), options_(options), progress_(progress) {}

  Result<Tuning> Run(const TuneSpace& space);

 private:
  Result<bool> TryDefault();
  Result<void> BuildOthers();
  Result<void> BuildSome(std::atomic<std::size_t>& next);
  Result<void> BuildOne(std::size_t index);
  Result<void> CheckOthers();
  Result<void> CheckOne(std::size_t index);
  Result<void> Choose();
  Result<RoundTimes> Measure(const RoundRequest& request);
  void NoteStandings(const HalvingResult& halving);
  void DropUntried();
  [[nodiscard]] std::optional<std::size_t> SameCode(std::size_t index) const;

  [[nodiscard]] double Spent() const { return Since(start_).count() - waited_; }
  [[nodiscard]] double Until(double share) const {
    return share * options_.limit.count() - Spent();
  }
  void Show(const std::string& phase) const {
    if (progress_) progress_("tune: " + phase);
  }

  // One variant and its progress.
  struct Entry {
    Variant variant;
    std::optional<BuiltKernel> kernel;
    std::optional<TunedVariant> outcome;  // none: not tried
    double call_seconds = 0;
  };

  VariantBench& bench_;
  const Candidate& candidate_;
  const TunerOptions& options_;
  const TunerProgress& progress_;
  TimePoint start_ = std::chrono::steady_clock::now();
  double waited_ = 0;                     // time spent waiting for other processes to finish timing
  std::vector<Entry> entries_;            // the default first
  std::vector<std::size_t> contestants_;  // indices of the variants that are timed
  std::atomic<std::size_t> built_ = 0;
  double call_seconds_ = 0;  // time of a call of the default
  std::size_t chosen_ = 0;
  Tuning tuning_;
};

TunedVariant OutcomeOf(const Variant& variant) {
  TunedVariant outcome;
  outcome.tunables = variant.tunables;
  outcome.flags = variant.flags;
  return outcome;
}

Result<Tuning> Tuner::Run(const TuneSpace& space) {
  Rng rng(DeriveSeed(Seed{}, "tune " + candidate_.id()));
  VariantList list = SampleVariants(space, options_.most_variants, rng);
  for (Variant& variant : list.variants) entries_.push_back({.variant = std::move(variant)});
  tuning_.combinations = list.combinations;
  tuning_.limit_seconds = options_.limit.count();
  tuning_.complete = true;
  if (TRY(TryDefault())) {
    TRY(BuildOthers());
    TRY(CheckOthers());
    TRY(Choose());
  }
  DropUntried();
  tuning_.seconds = Spent();
  return std::move(tuning_);
}

// Returns false if the default fails, in which case tuning it would fail too.
Result<bool> Tuner::TryDefault() {
  Show("the default");
  TRY(BuildOne(0));
  Entry& entry = entries_.front();
  if (!entry.kernel) return false;
  const VariantCheck checked = TRY(bench_.CheckFirst(*entry.kernel));
  entry.outcome->status = checked.status;
  entry.outcome->reason = checked.reason;
  call_seconds_ = entry.call_seconds = checked.call_seconds;
  return checked.passed();
}

// An entry without an outcome was not tried because time ran out.
Result<void> Tuner::BuildOne(std::size_t index) {
  Entry& entry = entries_[index];
  // The default is built even if there is no tuning.
  const double left = index == 0 ? kUnlimited : Until(kBuildShare);
  if (left <= 0) return {};
  const Candidate candidate = index == 0 ? candidate_ : WithVariant(candidate_, entry.variant);
  BuildOutcome built = TRY(bench_.Build(candidate, Seconds{left}));
  if (auto* kernel = std::get_if<BuiltKernel>(&built)) {
    entry.outcome = OutcomeOf(entry.variant);
    entry.kernel = std::move(*kernel);
    return {};
  }
  const auto& failure = std::get<BuildFailure>(built);
  if (index > 0 && Until(kBuildShare) <= 0) return {};  // our time limit ended the build
  entry.outcome = OutcomeOf(entry.variant);
  entry.outcome->status = failure.status;
  entry.outcome->reason = failure.reason;
  return {};
}

Result<void> Tuner::BuildSome(std::atomic<std::size_t>& next) {
  for (std::size_t index = next++; index < entries_.size(); index = next++) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while tuning");
    TRY(BuildOne(index));
    ++built_;
  }
  return {};
}

// Each thread writes only its own entries.
Result<void> Tuner::BuildOthers() {
  std::atomic<std::size_t> next = 1;
  std::vector<std::future<Result<void>>> threads;
  for (int i = 0; i < std::max(options_.build_threads, 1); ++i)
    threads.push_back(std::async(std::launch::async, [this, &next] { return BuildSome(next); }));
  Result<void> all;
  for (std::future<Result<void>>& thread : threads) {
    while (thread.wait_for(Seconds{0.5}) != std::future_status::ready)
      Show(fmt::format("built {}/{}", built_.load(), entries_.size() - 1));
    Result<void> done = thread.get();
    if (!done) all = std::move(done);
  }
  return all;
}

// Returns an earlier variant with the same machine code.
std::optional<std::size_t> Tuner::SameCode(std::size_t index) const {
  for (std::size_t i = 0; i < index; ++i) {
    if (entries_[i].kernel && entries_[i].kernel->sha256 == entries_[index].kernel->sha256)
      return i;
  }
  return std::nullopt;
}

Result<void> Tuner::CheckOthers() {
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    if (!entries_[i].kernel) continue;
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while tuning");
    if (const auto same = SameCode(i)) {
      entries_[i].outcome->reason =
          fmt::format("the same machine code as {}",
                      *same == 0 ? "the default" : entries_[*same].variant.Text());
      continue;
    }
    Show(fmt::format("check {}/{}", i, entries_.size() - 1));
    TRY(CheckOne(i));
  }
  return {};
}

Result<void> Tuner::CheckOne(std::size_t index) {
  Entry& entry = entries_[index];
  if (Until(kCheckShare) <= 0) {
    entry.outcome.reset();
    return {};
  }
  const Seconds limit = std::max(Seconds{kHopeless * call_seconds_}, kLeastCallLimit);
  const VariantCheck checked = TRY(bench_.Check(*entry.kernel, std::min(limit, Seconds{Until(1)})));
  entry.outcome->status = checked.status;
  entry.outcome->reason = checked.reason;
  entry.call_seconds = checked.call_seconds;
  if (!checked.passed()) return {};
  if (checked.call_seconds > kHopeless * call_seconds_) {
    entry.outcome->reason = "far slower than the default in its check; not timed";
  } else {
    contestants_.push_back(index);
  }
  return {};
}

Result<RoundTimes> Tuner::Measure(const RoundRequest& request) {
  Show(fmt::format("time {} variant{}", request.contestants.size(),
                   request.contestants.size() == 1 ? "" : "s"));
  VariantMatch match{.kernels = {}, .processes = request.processes, .seconds = request.seconds};
  for (const std::size_t contestant : request.contestants) {
    const Entry& entry = entries_[contestants_[contestant]];
    match.kernels.push_back(&*entry.kernel);
    match.call_seconds = std::max(match.call_seconds, entry.call_seconds);
  }
  VariantTimes times = TRY(bench_.Time(match));
  waited_ += times.waited_seconds;
  RoundTimes round{.logs = std::move(times.logs), .failures = {}, .seconds = times.seconds};
  for (std::size_t i = 0; i < times.failures.size(); ++i) {
    const VariantCheck& failure = times.failures[i];
    round.failures.push_back(failure.reason);
    if (!failure.passed())
      entries_[contestants_[request.contestants[i]]].outcome->status = failure.status;
  }
  if (!times.first.passed()) {
    // Without the default there is nothing to compare the others with. The full evaluation says
    // what is wrong.
    entries_.front().outcome->status = times.first.status;
    entries_.front().outcome->reason = times.first.reason;
    std::ranges::fill(round.failures, "the default failed " + times.first.reason);
  }
  return round;
}

Result<void> Tuner::Choose() {
  if (contestants_.empty()) return {};
  double slowest = call_seconds_;
  for (const std::size_t i : contestants_) slowest = std::max(slowest, entries_[i].call_seconds);
  const HalvingLimits limits{.seconds = Until(1),
                             .process_seconds = bench_.ProcessSeconds(slowest),
                             .minimum_effect = kMinimumEffect};
  const HalvingResult halving =
      TRY(SuccessiveHalving(contestants_.size(), limits,
                            [this](const RoundRequest& request) { return Measure(request); }));
  NoteStandings(halving);
  tuning_.complete = tuning_.complete && halving.complete;
  if (halving.winner) chosen_ = contestants_[*halving.winner];
  return {};
}

void Tuner::NoteStandings(const HalvingResult& halving) {
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    TunedVariant& outcome = *entries_[contestants_[i]].outcome;
    const Standing& standing = halving.standings[i];
    outcome.ratio = standing.ratio();
    outcome.processes = standing.logs.size();
    outcome.reason = standing.failure;
    if (outcome.reason.empty() && !outcome.ratio) outcome.reason = "not timed: the time was up";
  }
  if (!halving.winner) return;
  // The winner's ratio comes from the processes that did not select it.
  entries_[contestants_[*halving.winner]].outcome->ratio = halving.confirmed;
}

void Tuner::DropUntried() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].outcome) {
      tuning_.complete = false;
      continue;
    }
    if (i == chosen_) tuning_.chosen = tuning_.variants.size();
    tuning_.variants.push_back(std::move(*entries_[i].outcome));
  }
}

}  // namespace

Result<Tuning> Tune(VariantBench& bench, const Candidate& candidate, const TuneSpace& space,
                    const TunerOptions& options, const TunerProgress& progress) {
  return Tuner(bench, candidate, options, progress).Run(space);
}

Candidate ChosenBy(const Tuning& tuning, const Candidate& candidate) {
  if (tuning.chosen == 0 || tuning.chosen >= tuning.variants.size()) return candidate;
  const TunedVariant& chosen = tuning.variants[tuning.chosen];
  return WithVariant(candidate, {.tunables = chosen.tunables, .flags = chosen.flags});
}

std::string TuningSummary(const Tuning& tuning) {
  std::string text = tuning.recalled ? "as found earlier on this machine, " : "";
  const std::size_t failed = static_cast<std::size_t>(std::ranges::count_if(
      tuning.variants, [](const TunedVariant& v) { return v.status != Status::kPassed; }));
  text += fmt::format("{} of {} combinations tried", tuning.variants.size(), tuning.combinations);
  if (failed > 0) text += fmt::format(", {} failed", failed);
  if (tuning.chosen == 0) return text + "; the default stays";
  const TunedVariant& chosen = tuning.variants[tuning.chosen];
  const Variant variant{.tunables = chosen.tunables, .flags = chosen.flags};
  text += "; chosen: " + variant.Text();
  if (chosen.ratio) {
    text += fmt::format(", {:.2f} [{:.2f}, {:.2f}] times as fast as the default",
                        chosen.ratio->median, chosen.ratio->low, chosen.ratio->high);
  }
  return text;
}

}  // namespace pragma
