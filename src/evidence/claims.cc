#include "evidence/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

constexpr double kRounding = 1e-9;  // relative; samples are written with all their digits

bool Near(double a, double b) {
  return a == b || std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

std::string Text(const Interval& ratio) {
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", ratio.median, ratio.low, ratio.high);
}

bool Usable(const RawSamples& side) {
  return !side.seconds.empty() && std::ranges::all_of(side.seconds, [](const auto& bursts) {
    return !bursts.empty() && std::ranges::all_of(bursts, [](double seconds) {
      return std::isfinite(seconds) && seconds > 0;
    });
  });
}

bool SameShape(const RawSamples& a, const RawSamples& b) {
  return std::ranges::equal(a.seconds, b.seconds,
                            [](const auto& x, const auto& y) { return x.size() == y.size(); });
}

// Returns the time of `baseline` over the time of `candidate`, as the verifier computes it.
Interval RatioOf(const RawSamples& baseline, const RawSamples& candidate) {
  TimingOutcome outcome;
  outcome.sides = {{.seconds = baseline.seconds}, {.seconds = candidate.seconds}};
  return outcome.Ratio(0, 1);
}

// Returns the ratios that a session's samples give against sides whose name begins with `side`.
std::vector<Interval> Ratios(const Evaluation& evaluation, std::string_view session,
                             std::string_view side) {
  std::vector<Interval> ratios;
  for (const RawSamples& candidate : evaluation.samples) {
    if (candidate.session != session || candidate.side != "candidate" || !Usable(candidate))
      continue;
    for (const RawSamples& baseline : evaluation.samples) {
      const bool wanted = baseline.session == session && baseline.side.starts_with(side);
      if (wanted && Usable(baseline) && SameShape(baseline, candidate))
        ratios.push_back(RatioOf(baseline, candidate));
    }
  }
  return ratios;
}

void TestClaim(const Evaluation& evaluation, std::string_view session, std::string_view side,
               const std::optional<Interval>& claimed, std::vector<BrokenClaim>& broken) {
  if (!claimed) return;
  const std::vector<Interval> ratios = Ratios(evaluation, session, side);
  const bool follows = std::ranges::any_of(ratios, [&](const Interval& ratio) {
    return Near(ratio.median, claimed->median) && Near(ratio.low, claimed->low) &&
           Near(ratio.high, claimed->high);
  });
  if (follows) return;
  broken.push_back({.what = "speedup." + std::string(side),
                    .recorded = Text(*claimed),
                    .from_samples = ratios.empty() ? "" : Text(ratios.front()),
                    .samples_missing = evaluation.samples.empty()});
}

// Checks each shape's ratios against its own samples, and the overall ratio against those of the
// shapes.
std::vector<BrokenClaim> BrokenOverShapes(const Evaluation& evaluation) {
  struct Ratio {
    const char* session;
    const char* side;
    std::optional<Interval> ShapeResult::* of_shape;
    std::optional<Interval> Evaluation::* of_whole;
  };
  constexpr Ratio kRatios[] = {
      {"eager", "eager", &ShapeResult::speedup_eager, &Evaluation::speedup_eager},
      {"eager", "best", &ShapeResult::speedup_best, &Evaluation::speedup_best},
      {"compile", "compile", &ShapeResult::speedup_compile, &Evaluation::speedup_compile}};
  std::vector<BrokenClaim> broken;
  for (const Ratio& ratio : kRatios) {
    for (std::size_t i = 0; i < evaluation.shapes.size(); ++i) {
      const ShapeResult& shape = evaluation.shapes[i];
      const std::string session = i == 0 ? ratio.session : SessionOf(ratio.session, shape.label);
      TestClaim(evaluation, session, ratio.side, shape.*ratio.of_shape, broken);
    }
    const std::optional<Interval>& claimed = evaluation.*ratio.of_whole;
    const std::optional<Interval> mean = MeanOverShapes(evaluation.shapes, ratio.of_shape);
    if (!claimed || (mean && Near(mean->median, claimed->median) && Near(mean->low, claimed->low) &&
                     Near(mean->high, claimed->high)))
      continue;
    broken.push_back({.what = fmt::format("speedup.{}", ratio.side),
                      .recorded = Text(*claimed),
                      .from_samples = mean ? Text(*mean) : "",
                      .samples_missing = false});
  }
  return broken;
}

}  // namespace

std::vector<BrokenClaim> BrokenClaims(const Evaluation& evaluation) {
  if (!evaluation.shapes.empty()) return BrokenOverShapes(evaluation);
  std::vector<BrokenClaim> broken;
  TestClaim(evaluation, "eager", "eager", evaluation.speedup_eager, broken);
  TestClaim(evaluation, "eager", "best", evaluation.speedup_best, broken);
  TestClaim(evaluation, "compile", "compile", evaluation.speedup_compile, broken);
  return broken;
}

}  // namespace pragma
