#include "values/block_errors.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

// Compiled with -fopenmp-simd (CMakeLists.txt). Every value is computed for every element and
// selected afterwards, because a branch would keep the loops from being vectorised.
namespace pragma {
namespace {

[[gnu::always_inline]] inline BlockSquares Squares(const double* values, std::size_t count) {
  double sum = 0;
  double finite = 0;
#pragma omp simd reduction(+ : sum, finite)
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_finite = values[i] - values[i] == 0;
    sum += is_finite ? values[i] * values[i] : 0;
    finite += is_finite ? 1 : 0;
  }
  return {sum, static_cast<std::int64_t>(finite)};
}

[[gnu::always_inline]] inline BlockErrors Errors(const double* y, const double* r,
                                                 std::size_t count, ErrorScale scale) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double rms = scale.rms;
  const double largest = scale.largest;
  const double smallest = scale.smallest;
  const double floor = rms * 1e-3;
  double squared_error = 0;
  double squared = 0;
  double odd = 0;
  double max_abs = 0;
  double max_rel = 0;
  double max_any_rel = 0;
  double max_scaled = 0;
  const double told = smallest * kWellAboveSmallest;
#pragma omp simd reduction(+ : squared_error, squared, odd) \
    reduction(max : max_abs, max_rel, max_any_rel, max_scaled)
  for (std::size_t i = 0; i < count; ++i) {
    const double zero = (y[i] - y[i]) + (r[i] - r[i]);  // NaN unless both are finite
    const double held = std::abs(r[i]) <= largest ? 1.0 : 0.0;
    const double kept = zero == 0 ? held : 0.0;
    const double size = kept != 0 ? std::abs(r[i]) : 0.0;
    const double off = kept != 0 ? std::abs(y[i] - r[i]) : 0.0;
    const double error = off > smallest ? off : 0.0;
    const double scaled = error / (size + rms);
    const double relative = error / (size > floor ? size : infinity);
    const double any = error / (size > told ? size : infinity);
    squared_error += error * error;
    squared += size * size;
    odd += 1 - kept;
    max_abs = error > max_abs ? error : max_abs;
    max_rel = relative > max_rel ? relative : max_rel;
    max_any_rel = any > max_any_rel ? any : max_any_rel;
    max_scaled = scaled > max_scaled ? scaled : max_scaled;
  }
  return {squared_error,
          squared,
          max_abs,
          max_rel,
          max_any_rel,
          max_scaled,
          static_cast<std::int64_t>(odd)};
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] BlockSquares SquaresAvx2(const double* values, std::size_t count) {
  return Squares(values, count);
}

[[gnu::target("avx2")]] BlockErrors ErrorsAvx2(const double* y, const double* r, std::size_t count,
                                               ErrorScale scale) {
  return Errors(y, r, count, scale);
}

const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
#endif

}  // namespace

BlockSquares SquaresOf(std::span<const double> values) {
#if defined(__x86_64__)
  if (has_avx2) return SquaresAvx2(values.data(), values.size());
#endif
  return Squares(values.data(), values.size());
}

BlockErrors ErrorsOf(std::span<const double> actual, std::span<const double> truth,
                     const ErrorScale& scale) {
#if defined(__x86_64__)
  if (has_avx2) return ErrorsAvx2(actual.data(), truth.data(), actual.size(), scale);
#endif
  return Errors(actual.data(), truth.data(), actual.size(), scale);
}

}  // namespace pragma
