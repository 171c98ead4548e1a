#include "evidence/recheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/evaluation.h"
#include "evidence/bundle.h"
#include "evidence/claims.h"

namespace pragma {
namespace {

using Ratio = std::optional<Interval> Evaluation::*;

std::string RatioText(const std::optional<Interval>& ratio) {
  if (!ratio) return "none";
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", ratio->median, ratio->low, ratio->high);
}

bool Confirms(const Interval& now, const Interval& then) {
  return Overlap(now, then) && RelativeWidth(now) <= kWidestThatConfirms;
}

// Whether the ratio can refute. What other programs disturbed cannot.
bool CanRefute(const Evaluation& evaluation, const Interval& ratio) {
  return evaluation.noisy.empty() && RelativeWidth(ratio) <= kWidestThatRefutes;
}

// Whether a judgement rejects only because of a time that other programs disturbed.
bool RejectedByNoise(const Evaluation& evaluation) {
  const bool wrong = std::ranges::any_of(evaluation.checks, [](const Check& check) {
    return check.name == "timed_outputs" && check.verdict == CheckVerdict::kFail;
  });
  return evaluation.status == Status::kImplausible && !evaluation.noisy.empty() && !wrong;
}

RecheckVerdict VerdictOf(Weight weight) {
  switch (weight) {
    case Weight::kNote: return RecheckVerdict::kConfirmedWithNotes;
    case Weight::kInconclusive: return RecheckVerdict::kInconclusive;
    case Weight::kRefutes: break;
  }
  return RecheckVerdict::kRefuted;
}

bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || a == b;
}

class RecheckComparison final {
 public:
  RecheckComparison(const Bundle& recorded, const Rejudged& now)
      : recorded_(recorded), now_(now), then_(recorded.evaluation) {}

  RecheckReport Run() {
    CompareStatus("same seed", now_.same_seed);
    CompareStatus("fresh seed", now_.fresh_seed);
    CompareSurroundings();
    CompareOptions();
    CompareObject();
    CompareError();
    CompareClaims();
    CompareSpeed();
    return std::move(report_);
  }

 private:
  void Add(Weight weight, std::string what, std::string recorded, std::string now,
           std::string detail) {
    report_.verdict = std::max(report_.verdict, VerdictOf(weight));
    report_.differences.push_back({.what = std::move(what),
                                   .weight = weight,
                                   .recorded = std::move(recorded),
                                   .now = std::move(now),
                                   .detail = std::move(detail)});
  }

  // Adds a note if the two differ. Returns true if they agree.
  bool Same(std::string_view what, const std::string& recorded, const std::string& now) {
    if (recorded != now) Add(Weight::kNote, std::string(what), recorded, now, "");
    return recorded == now;
  }

  void CompareStatus(std::string_view seed, const Evaluation& now) {
    if (now.status == then_.status) return;
    const Weight weight = RejectedByNoise(now) ? Weight::kInconclusive : Weight::kRefutes;
    Add(weight, "status", std::string(StatusName(then_.status)),
        std::string(StatusName(now.status)), fmt::format("{}: {}", seed, now.reason));
  }

  // Compares everything on which an object, an error figure or a time may depend.
  void CompareSurroundings() {
    const Environment& then = then_.environment;
    const Environment& now = now_.same_seed.environment;
    const bool program = Same("pragma", recorded_.pragma, now_.pragma);
    const bool header =
        Same("kernel_header", recorded_.kernel_header_sha256, now_.kernel_header_sha256);
    const bool cpu = Same("cpu", then.cpu, now.cpu);
    // A candidate that was not built names no compiler. Its status is informative enough.
    const bool compiler = now.compiler.empty() || Same("compiler", then.compiler, now.compiler);
    const bool torch = Same("torch", then.torch, now.torch);
    const bool threads = Same("threads", std::to_string(then.threads), std::to_string(now.threads));
    const bool system = Same("system", recorded_.system, now_.system);
    Same("trust", then.trust, now.trust);
    Same("protections", fmt::format("{}", fmt::join(then.protections, ", ")),
         fmt::format("{}", fmt::join(now.protections, ", ")));
    same_build_ = program && header && cpu && compiler;
    same_values_ = same_build_ && torch && threads;
    same_speed_ = cpu && compiler && torch && threads && system;
  }

  void CompareOptions() {
    Same("mode", std::string(CheckModeName(recorded_.options.judging.mode)),
         std::string(CheckModeName(now_.options.judging.mode)));
    Same("cache", std::string(CacheStateName(recorded_.options.judging.cache)),
         std::string(CacheStateName(now_.options.judging.cache)));
    Same("compile_mode", recorded_.options.judging.compile_mode, now_.options.judging.compile_mode);
    same_values_ &= Same("check_sets", std::to_string(recorded_.options.check_sets),
                         std::to_string(now_.options.check_sets));
  }

  void CompareObject() {
    const std::string& then = then_.object_sha256;
    const std::string& now = now_.same_seed.object_sha256;
    if (then == now || now.empty()) return;
    Add(same_build_ && !then.empty() ? Weight::kRefutes : Weight::kNote, "object", then, now,
        same_build_ ? "the same compiler makes another object of this source"
                    : "built by another compiler or for another processor");
  }

  void CompareError() {
    const auto& then = then_.error;
    const auto& now = now_.same_seed.error;
    if (!then || !now || !now_.same_seed.passed()) return;
    const std::array pairs{
        std::pair(then->max_abs, now->max_abs), std::pair(then->max_rel, now->max_rel),
        std::pair(then->rel_l2, now->rel_l2), std::pair(then->honest_rel_l2, now->honest_rel_l2)};
    if (std::ranges::all_of(pairs, [](const auto& p) { return SameBits(p.first, p.second); }))
      return;
    // A kernel that adds in no fixed order legitimately gives different last bits each time.
    const bool worse = !(now->rel_l2 <= 2 * then->rel_l2 + now->honest_rel_l2);
    Add(same_values_ && worse ? Weight::kRefutes : Weight::kNote, "error",
        fmt::format("{:.3g}", then->rel_l2), fmt::format("{:.3g}", now->rel_l2),
        worse ? "the relative L2 error is larger than recorded"
              : "not bit by bit what was recorded");
  }

  // Figures that do not follow from the bundle's own samples were not measured.
  void CompareClaims() {
    for (const BrokenClaim& claim : BrokenClaims(then_)) {
      Add(claim.samples_missing ? Weight::kNote : Weight::kRefutes, claim.what, claim.recorded,
          claim.from_samples,
          claim.samples_missing ? "the bundle has no samples to recompute this figure from"
                                : "does not follow from the bundle's own samples");
    }
  }

  void CompareSpeed() {
    if (!now_.same_seed.passed() || !now_.fresh_seed.passed()) return;
    if (!then_.timing) return;
    if (!now_.timed) return Add(Weight::kNote, "timing", "", "", "times were not taken again");
    CompareRatio("speedup.eager", &Evaluation::speedup_eager);
    CompareRatio("speedup.compile", &Evaluation::speedup_compile);
    if (now_.not_against.empty()) {
      CompareRatio("speedup.best", &Evaluation::speedup_best);
    } else {
      Add(Weight::kNote, "speedup.best", RatioText(then_.speedup_best), "none", now_.not_against);
    }
  }

  void CompareRatio(const std::string& what, Ratio ratio) {
    const auto& then = then_.*ratio;
    if (!then) return;
    const auto& same = now_.same_seed.*ratio;
    const auto& fresh = now_.fresh_seed.*ratio;
    if (!same || !fresh) {
      return Add(Weight::kNote, what, RatioText(then), "none", "could not be measured here");
    }
    if (Confirms(*same, *then) || Confirms(*fresh, *then)) return;
    const std::string now = RatioText(same) + ", " + RatioText(fresh);
    if (Overlap(*same, *then) || Overlap(*fresh, *then)) {
      return Add(Weight::kInconclusive, what, RatioText(then), now,
                 "the interval is too wide" + NoiseDetail());
    }
    const double best = std::max(same->high, fresh->high);
    const bool slower = best < then->low;
    const bool refuted = same_speed_ && slower && !(best * kSpeedupSlack >= then->low);
    const bool certain = then_.noisy.empty() && CanRefute(now_.same_seed, *same) &&
                         CanRefute(now_.fresh_seed, *fresh);
    if (refuted && !certain) {
      return Add(Weight::kInconclusive, what, RatioText(then), now,
                 "less than recorded, but too uncertain to refute it" + NoiseDetail());
    }
    Add(refuted ? Weight::kRefutes : Weight::kNote, what, RatioText(then), now,
        SpeedDetail(slower, refuted));
  }

  [[nodiscard]] std::string NoiseDetail() const {
    for (const Evaluation* evaluation : {&now_.same_seed, &now_.fresh_seed}) {
      if (!evaluation->noisy.empty()) return ": " + evaluation->noisy;
    }
    return then_.noisy.empty() ? "" : "; when it was recorded, " + then_.noisy;
  }

  [[nodiscard]] std::string SpeedDetail(bool slower, bool refuted) const {
    const std::string direction = slower ? "less than recorded" : "other than recorded";
    if (refuted) return direction + " on the same machine, in both sittings";
    return direction + (same_speed_ ? ", by little" : "; the surroundings differ");
  }

  const Bundle& recorded_;
  const Rejudged& now_;
  const Evaluation& then_;
  RecheckReport report_;
  bool same_build_ = false;
  bool same_values_ = false;
  bool same_speed_ = false;
};

}  // namespace

std::string_view WeightName(Weight weight) {
  constexpr std::array<std::string_view, 3> kNames{"note", "inconclusive", "refutes"};
  return kNames.at(static_cast<std::size_t>(weight));
}

std::string_view VerdictName(RecheckVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames{"confirmed", "confirmed_with_notes",
                                                   "inconclusive", "refuted"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

RecheckReport CompareWithRecord(const Bundle& recorded, const Rejudged& now) {
  return RecheckComparison(recorded, now).Run();
}

}  // namespace pragma
