#include "values/comparator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "core/error_pass.h"
#include "core/task.h"
#include "values/conditioning.h"
#include "values/element.h"
#include "values/output_pass.h"

namespace pragma {
namespace {

// How many times an honest error a kernel may be off. This leaves room for another order of
// summation, vector approximations of exp and tanh (a few units in the last place), and the tail of
// many elements.
constexpr double kHonestFactor = 10;
// Where errors are unequal, the largest of them is further from their root mean square: at the
// border of Winograd's tiles, or in the row whose first element a variance is shifted by. The
// allowance does not go beyond the second figure, which lower precision would use up.
constexpr double kFurthestError = 3;
constexpr double kMostOfFurthest = 1e-3;
constexpr double kRoundingFactor = 6;
// For n equal terms, each partial sum is rounded by at most eps / 2, and partial sums are half the
// sum on average. A sum that is wrong by as much as the second figure can no longer be told from
// lower precision.
constexpr double kRepeatedFactor = 0.25;
constexpr double kMostOfRepeated = 1e-3;
// Hundreds of sets are compared during timing. The largest of their many rounding errors is further
// out than that of the few sets that were checked.
constexpr double kTimedFactor = 3;
constexpr double kExactIntegers = 16777216;  // 2^24: fp32 holds every integer up to it

double Epsilon(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return std::numeric_limits<double>::epsilon();
    case DType::kBFloat16: return 0x1.0p-7;
    case DType::kFloat16: return 0x1.0p-10;
    default: return std::numeric_limits<float>::epsilon();
  }
}

// Returns how far a plain running sum may be off, relative to the sum.
double RunningSumError(DType dtype, const Terms& terms) {
  // 16-bit outputs are rounded once at the end. Their sums are usually kept in fp32.
  const double eps = Epsilon(dtype);
  const double accumulate = std::min(eps, Epsilon(DType::kFloat32));
  const auto count = static_cast<double>(std::max<std::int64_t>(terms.count, 1));
  const double random = kRoundingFactor * std::max(eps, accumulate * std::sqrt(count));
  if (!terms.repeat) return random;
  return std::max(random, std::min(kRepeatedFactor * accumulate * count, kMostOfRepeated));
}

std::vector<std::int64_t> Unravel(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d > 0; --d) {
    const auto size = static_cast<std::size_t>(shape[d - 1]);
    if (size == 0) return index;  // of a tensor without elements
    index[d - 1] = static_cast<std::int64_t>(flat % size);
    flat /= size;
  }
  return index;
}

double RelativeL2(const ErrorPass& pass) {
  if (pass.sum_squared_error == 0) return 0;
  return std::sqrt(pass.sum_squared_error /
                   std::max(pass.sum_squared, std::numeric_limits<double>::min()));
}

std::string ElementText(const OutputView& view, std::size_t flat) {
  return WithReader(view.spec->dtype, [&](auto read) {
    return ElementAt(
        *view.spec, flat,
        fmt::format("got {:.9g}, expected {:.9g}", read(view.actual.data(), flat),
                    WithReader(ExpectedType(*view.spec, view.expected),
                               [&](auto truth) { return truth(view.expected.data(), flat); })));
  });
}

std::string ValueReason(const ErrorPass& pass, const std::string& worst,
                        const Tolerance& tolerance) {
  return fmt::format(
      "wrong values: worst at {} ({:.2g} of scale, {:.2g} allowed); relative L2 error {:.2g} "
      "({:.2g} allowed)",
      worst, pass.max_scaled, tolerance.rel, RelativeL2(pass), tolerance.rel_l2);
}

Comparison JudgeExact(const TensorSpec& spec, const ErrorPass& pass, const ElementTexts& text) {
  Comparison result{.ok = pass.mismatched == 0, .reason = {}, .error = {}, .odd = {}};
  result.error.output = spec.name;
  if (result.ok) return result;
  result.error.at = Unravel(pass.first_mismatch, spec.shape);
  result.error.max_abs = 1;
  result.error.rel_l2 = 1;
  result.reason = fmt::format("{} of {} elements differ; first {}", pass.mismatched,
                              spec.elements(), text(pass.first_mismatch));
  return result;
}

}  // namespace

std::string ElementAt(const TensorSpec& spec, std::size_t flat, const std::string& values) {
  return fmt::format("{}[{}]: {}", spec.name, fmt::join(Unravel(flat, spec.shape), ", "), values);
}

Tolerance DeriveTolerance(const TensorSpec& spec, const ErrorPass& torch, const Terms& terms) {
  Tolerance tolerance;
  if (!IsFloating(spec.dtype)) return tolerance;
  const double running = RunningSumError(spec.dtype, terms);
  tolerance.honest_rel_l2 = RelativeL2(torch);
  const double furthest = std::max(running, std::min(kFurthestError * running, kMostOfFurthest));
  tolerance.rel = std::max(kHonestFactor * torch.max_scaled, furthest);
  tolerance.rel_l2 = std::max(kHonestFactor * tolerance.honest_rel_l2, running);
  return tolerance;
}

Tolerance DeriveTolerance(const OutputView& torch, const Terms& terms) {
  if (!IsFloating(torch.spec->dtype)) return {};
  OutputView own = torch;
  own.actual = torch.native;
  return DeriveTolerance(*torch.spec, ScanOutput(own), terms);
}

double PeakOverRms(const OutputView& view) {
  if (!IsFloating(view.spec->dtype)) return 1;
  double peak = 0;
  const std::size_t count = view.spec->elements();
  WithReader(ExpectedType(*view.spec, view.expected), [&](auto truth) {
    for (std::size_t i = 0; i < count; ++i) {
      const double size = std::abs(truth(view.expected.data(), i));
      if (std::isfinite(size)) peak = std::max(peak, size);
    }
  });
  const double rms = RmsOfFinite(*view.spec, view.expected);
  return rms > 0 ? peak / rms : 1;
}

bool AllFinite(const TensorSpec& spec, std::span<const std::byte> data) {
  return WithReader(spec.dtype, [&](auto read) {
    return AllOf(spec.elements(),
                 [&](std::size_t i) { return std::isfinite(read(data.data(), i)); });
  });
}

bool ExactIntegers(const OutputView& torch) {
  if (!IsFloating(torch.spec->dtype)) return false;
  return WithReader(torch.spec->dtype, [&](auto read) {
    return AllOf(torch.spec->elements(), [&](std::size_t i) {
      const double r = LoadElement<double>(torch.expected.data(), i);
      const bool whole = std::abs(r) <= kExactIntegers && std::nearbyint(r) == r;
      return whole && read(torch.native.data(), i) == r;
    });
  });
}

Tolerance AgainstTorch(const Tolerance& tolerance) {
  const double factor = kTimedFactor + 1 / kHonestFactor;
  return {tolerance.rel * factor, tolerance.rel_l2 * factor, tolerance.honest_rel_l2,
          tolerance.where_finite, tolerance.absolute * factor};
}

Tolerance Looser(const Tolerance& a, const Tolerance& b) {
  return {std::max(a.rel, b.rel), std::max(a.rel_l2, b.rel_l2),
          std::max(a.honest_rel_l2, b.honest_rel_l2), a.where_finite || b.where_finite,
          std::max(a.absolute, b.absolute)};
}

Comparison Judge(const TensorSpec& spec, const ErrorPass& pass, const Tolerance& tolerance,
                 const ElementTexts& text) {
  if (!IsFloating(spec.dtype)) return JudgeExact(spec, pass, text);
  Comparison result;
  result.error = {.max_abs = pass.max_abs,
                  .max_rel = pass.max_rel,
                  .rel_l2 = RelativeL2(pass),
                  .honest_rel_l2 = tolerance.honest_rel_l2,
                  .at = Unravel(pass.worst, spec.shape),
                  .output = spec.name};
  if (tolerance.where_finite && pass.odd_truth > 0)
    result.odd = fmt::format("{} elements; first {}", pass.odd_truth, text(pass.first_odd));
  const std::size_t judged = pass.mismatched + (tolerance.where_finite ? 0 : pass.odd_truth);
  if (judged > 0) {
    const std::size_t first = pass.mismatched > 0 ? pass.first_mismatch : pass.first_odd;
    result.reason = fmt::format(
        "{} elements are NaN or infinite where they should not be, or the other way round; first "
        "{}",
        judged, text(first));
    result.error.at = Unravel(first, spec.shape);
    return result;
  }
  // The condition is written so that a NaN figure fails.
  const bool nothing = tolerance.absolute > 0 && pass.max_abs <= tolerance.absolute;
  result.ok =
      nothing || (pass.max_scaled <= tolerance.rel && result.error.rel_l2 <= tolerance.rel_l2);
  result.small_values = !nothing && !(pass.max_any_rel <= LargeRelativeError(spec.dtype));
  if (!result.ok) result.reason = ValueReason(pass, text(pass.worst), tolerance);
  return result;
}

Comparison Compare(const OutputView& view, const Tolerance& tolerance) {
  const bool floating = IsFloating(view.spec->dtype);
  return Judge(*view.spec, floating ? ScanOutput(view) : ScanExact(view), tolerance,
               [&view](std::size_t flat) { return ElementText(view, flat); });
}

Comparison WorstOf(std::size_t outputs, const JudgeOutput& judge) {
  Comparison worst;
  for (std::size_t i = 0; i < outputs; ++i) {
    Comparison comparison = judge(i);
    if (!comparison.ok) return comparison;
    std::string odd = worst.odd.empty() ? comparison.odd : worst.odd;
    const bool small_values = worst.small_values || comparison.small_values;
    if (i == 0 || comparison.error.rel_l2 > worst.error.rel_l2) worst = std::move(comparison);
    worst.odd = std::move(odd);
    worst.small_values = small_values;
  }
  return worst;
}

Comparison CompareAll(std::span<const OutputView> views, std::span<const Tolerance> tolerances) {
  return WorstOf(views.size(), [&](std::size_t i) { return Compare(views[i], tolerances[i]); });
}

bool OfficiallyCorrect(const OutputView& view) {
  const DType dtype = view.spec->dtype;
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  const double bound = half ? 1e-2 : 1e-4;
  return WithReader(dtype, [&](auto read) {
    return AllOf(view.spec->elements(), [&](std::size_t i) {
      const double y = read(view.actual.data(), i);
      const double t = read(view.native.data(), i);
      const bool same_infinity = std::isinf(y) && y == t;
      return same_infinity || std::abs(y - t) <= bound + bound * std::abs(t);
    });
  });
}

bool HasNonFinite(const TensorSpec& spec, std::span<const std::byte> expected) {
  if (!IsFloating(spec.dtype)) return false;
  const BlockSquares all = SquaresOfAll(spec, expected);
  return all.finite != static_cast<std::int64_t>(spec.elements());
}

}  // namespace pragma
