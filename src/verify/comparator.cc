#include "verify/comparator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error_pass.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "verify/block_errors.h"
#include "verify/element.h"

namespace pragma {
namespace {

// How many honest errors a kernel may be off: room for another order of summation, vector
// approximations of exp and tanh (a few units in the last place), and the tail of many elements.
constexpr double kHonestFactor = 10;
constexpr double kRoundingFactor = 6;
// Hundreds of sets are compared while time is taken: the largest of many rounding errors lies
// further out than that of the few sets that were checked.
constexpr double kTimedFactor = 3;
// Of the difference that one perturbation of the inputs made, where honest kernels add some of
// their own: Winograd's F(4, 3) errs some ten times as much as a direct sum.
constexpr double kConditionFactor = 12;
constexpr double kExactIntegers = 16777216;  // 2^24: fp32 holds every integer up to it

double Epsilon(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return std::numeric_limits<double>::epsilon();
    case DType::kBFloat16: return 0x1.0p-7;
    case DType::kFloat16: return 0x1.0p-10;
    default: return std::numeric_limits<float>::epsilon();
  }
}

// One block of a tensor as doubles.
class BlockBuffer final {
 public:
  template <class Reader>
  std::span<const double> Read(const std::byte* data, std::size_t begin, std::size_t end,
                               Reader read) {
    for (std::size_t i = begin; i < end; ++i) values_[i - begin] = read(data, i);
    return std::span(values_).first(end - begin);
  }
  std::span<const double> Copy(const std::byte* doubles, std::size_t begin, std::size_t end) {
    std::memcpy(values_.data(), doubles + begin * sizeof(double), (end - begin) * sizeof(double));
    return std::span(values_).first(end - begin);
  }

 private:
  std::array<double, kBlock> values_;
};

BlockSquares SquaresOfAll(std::span<const std::byte> expected, std::size_t count) {
  BlockSquares all;
  BlockBuffer buffer;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, count);
    const BlockSquares block = SquaresOf(buffer.Copy(expected.data(), begin, end));
    all.sum += block.sum;
    all.finite += block.finite;
  }
  return all;
}

double RmsOfFinite(std::span<const std::byte> expected, std::size_t count) {
  const BlockSquares all = SquaresOfAll(expected, count);
  return all.finite == 0 ? 0 : std::sqrt(all.sum / static_cast<double>(all.finite));
}

// The largest value that a type holds: truths beyond it become infinite in it.
double LargestOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 65504.0;
    case DType::kBFloat16: return 3.3895313892515355e38;
    case DType::kFloat64: return std::numeric_limits<double>::max();
    default: return static_cast<double>(std::numeric_limits<float>::max());
  }
}

// Errors up to this size are none. Of fp16 the smallest denormal: its normal range is too small to
// be treated as nothing below it.
double SmallestOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 0x1.0p-24;
    case DType::kFloat64: return std::numeric_limits<double>::min();
    default: return static_cast<double>(std::numeric_limits<float>::min());
  }
}

ErrorScale ScaleOf(const OutputView& view) {
  // A tensor of zeros has no scale; then only exact zeros pass.
  return {.rms = std::max(RmsOfFinite(view.expected, view.spec->elements()),
                          std::numeric_limits<double>::min()),
          .largest = LargestOf(view.spec->dtype),
          .smallest = SmallestOf(view.spec->dtype)};
}

// The truth as the output's own type could hold it.
double Representable(double r, double largest) {
  return std::abs(r) > largest ? std::copysign(std::numeric_limits<double>::infinity(), r) : r;
}

bool SameNonFinite(double y, double r) {
  return (std::isnan(y) && std::isnan(r)) ||
         (std::isinf(y) && std::isinf(r) && std::signbit(y) == std::signbit(r));
}

std::vector<std::int64_t> Unravel(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d > 0; --d) {
    const auto size = static_cast<std::size_t>(shape[d - 1]);
    index[d - 1] = static_cast<std::int64_t>(flat % size);
    flat /= size;
  }
  return index;
}

template <class Reader>
void FindWorst(const OutputView& view, std::size_t begin, std::size_t end, const ErrorScale& scale,
               Reader read, ErrorPass& pass) {
  for (std::size_t i = begin; i < end; ++i) {
    const double y = read(view.actual.data(), i);
    const double r = LoadElement<double>(view.expected.data(), i);
    if (!std::isfinite(y) || !(std::abs(r) <= scale.largest)) continue;
    const double error = std::abs(y - r);
    const double scaled = error > scale.smallest ? error / (std::abs(r) + scale.rms) : 0;
    if (scaled > pass.max_scaled) {
      pass.max_scaled = scaled;
      pass.worst = i;
    }
  }
}

// Where one side is not finite the other must be the same.
template <class Reader>
void CountMismatches(const OutputView& view, std::size_t begin, std::size_t end, Reader read,
                     ErrorPass& pass) {
  const double largest = LargestOf(view.spec->dtype);
  for (std::size_t i = begin; i < end; ++i) {
    const double y = read(view.actual.data(), i);
    const double r = Representable(LoadElement<double>(view.expected.data(), i), largest);
    if (std::isfinite(y) && std::isfinite(r)) continue;
    if (!SameNonFinite(y, r) && pass.mismatched++ == 0) pass.first_mismatch = i;
  }
}

template <class Reader>
ErrorPass Scan(const OutputView& view, Reader read) {
  ErrorPass pass;
  BlockBuffer actual;
  BlockBuffer truth;
  const ErrorScale scale = ScaleOf(view);
  const std::size_t count = view.spec->elements();
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, count);
    const BlockErrors block = ErrorsOf(actual.Read(view.actual.data(), begin, end, read),
                                       truth.Copy(view.expected.data(), begin, end), scale);
    pass.sum_squared_error += block.squared_error;
    pass.sum_squared += block.squared;
    pass.max_abs = std::max(pass.max_abs, block.max_abs);
    pass.max_rel = std::max(pass.max_rel, block.max_rel);
    if (block.max_scaled > pass.max_scaled) FindWorst(view, begin, end, scale, read, pass);
    if (block.odd > 0) CountMismatches(view, begin, end, read, pass);
  }
  return pass;
}

ErrorPass ScanOutput(const OutputView& view) {
  return WithReader(view.spec->dtype, [&](auto read) { return Scan(view, read); });
}

double RelativeL2(const ErrorPass& pass) {
  if (pass.sum_squared_error == 0) return 0;
  return std::sqrt(pass.sum_squared_error /
                   std::max(pass.sum_squared, std::numeric_limits<double>::min()));
}

std::string ElementText(const OutputView& view, std::size_t flat) {
  return WithReader(view.spec->dtype, [&](auto read) {
    const double expected = IsFloating(view.spec->dtype)
                                ? LoadElement<double>(view.expected.data(), flat)
                                : read(view.expected.data(), flat);
    return ElementAt(
        *view.spec, flat,
        fmt::format("got {:.9g}, expected {:.9g}", read(view.actual.data(), flat), expected));
  });
}

// Integers and booleans: equal to the truth, or to Torch's own result where it differs (near ties).
ErrorPass ScanExact(const OutputView& view) {
  ErrorPass pass;
  const std::size_t size = DTypeSize(view.spec->dtype);
  for (std::size_t i = 0; i < view.spec->elements(); ++i) {
    const std::byte* y = view.actual.data() + i * size;
    const bool equal =
        std::memcmp(y, view.expected.data() + i * size, size) == 0 ||
        (!view.native.empty() && std::memcmp(y, view.native.data() + i * size, size) == 0);
    if (!equal && pass.mismatched++ == 0) pass.first_mismatch = i;
  }
  return pass;
}

std::string ValueReason(const ErrorPass& pass, const std::string& worst,
                        const Tolerance& tolerance) {
  return fmt::format(
      "wrong values: worst at {} ({:.2g} of scale, {:.2g} allowed); relative L2 error {:.2g} "
      "({:.2g} allowed)",
      worst, pass.max_scaled, tolerance.rel, RelativeL2(pass), tolerance.rel_l2);
}

Comparison JudgeExact(const TensorSpec& spec, const ErrorPass& pass, const ElementTexts& text) {
  Comparison result{.ok = pass.mismatched == 0, .reason = {}, .error = {}};
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

Tolerance DeriveTolerance(const TensorSpec& spec, const ErrorPass& torch,
                          std::int64_t reduction_length) {
  Tolerance tolerance;
  if (!IsFloating(spec.dtype)) return tolerance;
  // Sixteen-bit outputs round once at the end; their sums are usually kept in fp32.
  const double length = std::sqrt(static_cast<double>(std::max<std::int64_t>(reduction_length, 1)));
  const double eps = Epsilon(spec.dtype);
  const double accumulate = spec.dtype == DType::kFloat64
                                ? eps
                                : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double running = kRoundingFactor * std::max(eps, accumulate * length);
  tolerance.honest_rel_l2 = RelativeL2(torch);
  tolerance.rel = std::max(kHonestFactor * torch.max_scaled, running);
  tolerance.rel_l2 = std::max(kHonestFactor * tolerance.honest_rel_l2, running);
  return tolerance;
}

Tolerance DeriveTolerance(const OutputView& torch, std::int64_t reduction_length) {
  if (!IsFloating(torch.spec->dtype)) return {};
  OutputView own = torch;
  own.actual = torch.native;
  return DeriveTolerance(*torch.spec, ScanOutput(own), reduction_length);
}

Tolerance ConditionTolerance(const ErrorPass& perturbed) {
  return {.rel = kConditionFactor * perturbed.max_scaled,
          .rel_l2 = kConditionFactor * RelativeL2(perturbed)};
}

Tolerance ConditionTolerance(const OutputView& perturbed) {
  if (!IsFloating(perturbed.spec->dtype)) return {};
  TensorSpec wide = *perturbed.spec;
  wide.dtype = DType::kFloat64;
  OutputView view = perturbed;
  view.spec = &wide;
  return ConditionTolerance(ScanOutput(view));
}

double PeakOverRms(const OutputView& view) {
  if (!IsFloating(view.spec->dtype)) return 1;
  double peak = 0;
  for (std::size_t i = 0; i < view.spec->elements(); ++i) {
    const double size = std::abs(LoadElement<double>(view.expected.data(), i));
    if (std::isfinite(size)) peak = std::max(peak, size);
  }
  const double rms = RmsOfFinite(view.expected, view.spec->elements());
  return rms > 0 ? peak / rms : 1;
}

bool AllFinite(const TensorSpec& spec, std::span<const std::byte> data) {
  return WithReader(spec.dtype, [&](auto read) {
    for (std::size_t i = 0; i < spec.elements(); ++i) {
      if (!std::isfinite(read(data.data(), i))) return false;
    }
    return true;
  });
}

bool ExactIntegers(const OutputView& torch) {
  if (!IsFloating(torch.spec->dtype)) return false;
  return WithReader(torch.spec->dtype, [&](auto read) {
    for (std::size_t i = 0; i < torch.spec->elements(); ++i) {
      const double r = LoadElement<double>(torch.expected.data(), i);
      const bool whole = std::abs(r) <= kExactIntegers && std::nearbyint(r) == r;
      if (!whole || read(torch.native.data(), i) != r) return false;
    }
    return true;
  });
}

Tolerance AgainstTorch(const Tolerance& tolerance) {
  const double factor = kTimedFactor + 1 / kHonestFactor;
  return {tolerance.rel * factor, tolerance.rel_l2 * factor, tolerance.honest_rel_l2};
}

Tolerance Looser(const Tolerance& a, const Tolerance& b) {
  return {std::max(a.rel, b.rel), std::max(a.rel_l2, b.rel_l2),
          std::max(a.honest_rel_l2, b.honest_rel_l2)};
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
  if (pass.mismatched > 0) {
    result.reason = fmt::format(
        "{} elements are NaN or infinite where they should not be, or the other way round; first "
        "{}",
        pass.mismatched, text(pass.first_mismatch));
    result.error.at = Unravel(pass.first_mismatch, spec.shape);
    return result;
  }
  // Written so that a NaN figure fails.
  result.ok = pass.max_scaled <= tolerance.rel && result.error.rel_l2 <= tolerance.rel_l2;
  if (!result.ok) result.reason = ValueReason(pass, text(pass.worst), tolerance);
  return result;
}

Comparison Compare(const OutputView& view, const Tolerance& tolerance) {
  const bool floating = IsFloating(view.spec->dtype);
  return Judge(*view.spec, floating ? ScanOutput(view) : ScanExact(view), tolerance,
               [&view](std::size_t flat) { return ElementText(view, flat); });
}

Comparison CompareAll(std::span<const OutputView> views, std::span<const Tolerance> tolerances) {
  Comparison worst;
  for (std::size_t i = 0; i < views.size(); ++i) {
    Comparison comparison = Compare(views[i], tolerances[i]);
    if (!comparison.ok) return comparison;
    if (i == 0 || comparison.error.rel_l2 > worst.error.rel_l2) worst = std::move(comparison);
  }
  return worst;
}

bool OfficiallyCorrect(const OutputView& view) {
  const DType dtype = view.spec->dtype;
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  const double bound = half ? 1e-2 : 1e-4;
  return WithReader(dtype, [&](auto read) {
    for (std::size_t i = 0; i < view.spec->elements(); ++i) {
      const double y = read(view.actual.data(), i);
      const double t = read(view.native.data(), i);
      const bool same_infinity = std::isinf(y) && y == t;
      if (!same_infinity && !(std::abs(y - t) <= bound + bound * std::abs(t))) return false;
    }
    return true;
  });
}

bool HasNonFinite(const TensorSpec& spec, std::span<const std::byte> float64) {
  if (!IsFloating(spec.dtype)) return false;
  const BlockSquares all = SquaresOfAll(float64, spec.elements());
  return all.finite != static_cast<std::int64_t>(spec.elements());
}

}  // namespace pragma
