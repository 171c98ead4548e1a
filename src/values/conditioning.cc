#include "values/conditioning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error_pass.h"
#include "core/task.h"
#include "values/block_errors.h"
#include "values/comparator.h"
#include "values/element.h"
#include "values/output_pass.h"

namespace pragma {
namespace {

constexpr double kLargeRelative = 0.02;
constexpr double kLargeRelative16Bit = 0.25;
constexpr double kTypicalFactor = 10;  // same factor as for honest errors elsewhere (comparator.cc)
constexpr std::size_t kSample = 65536;  // elements from which a median is taken
// How close Torch's own result must be, as a fraction of what counts as a large error.
constexpr double kTorchIsNear = 0.1;

struct Element {
  double actual = 0;
  double truth = 0;
  [[nodiscard]] double error() const { return std::abs(actual - truth); }
};

// Calls visit(i, element) for each element that is finite on both sides.
template <class Visit>
void ForEachFinite(const OutputView& view, Visit visit) {
  const std::size_t count = view.spec->elements();
  WithReader(view.spec->dtype, [&](auto read) {
    for (std::size_t i = 0; i < count; ++i) {
      const Element element{read(view.actual.data(), i),
                            LoadElement<double>(view.expected.data(), i)};
      if (std::isfinite(element.actual) && std::isfinite(element.truth)) visit(i, element);
    }
  });
}

std::string Text(const OutputView& view, std::size_t flat) {
  return WithReader(view.spec->dtype, [&](auto read) {
    return ElementAt(*view.spec, flat,
                     fmt::format("got {:.9g}, expected {:.9g}", read(view.actual.data(), flat),
                                 LoadElement<double>(view.expected.data(), flat)));
  });
}

// A movement larger than this, relative to the rms of an output, is not a rounding of it.
constexpr double kJump = 1e-3;

// Returns Torch's median error. It comes from rounding between Torch's operators, which changed
// inputs do not show.
double TypicalErrorOfTorch(const OutputView& view) {
  const std::size_t count = view.spec->elements();
  const std::size_t step = std::max<std::size_t>(count / kSample, 1);
  std::vector<double> errors;
  WithReader(view.spec->dtype, [&](auto read) {
    for (std::size_t i = 0; i < count; i += step) {
      const double error =
          std::abs(read(view.native.data(), i) - LoadElement<double>(view.expected.data(), i));
      if (std::isfinite(error) && error > 0) errors.push_back(error);  // exact zeros say nothing
    }
  });
  if (errors.empty()) return 0;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle);
  return *middle;
}

// Returns the bytes of an integer, whatever its type.
std::uint64_t IntegerBytes(std::span<const std::byte> integers, std::size_t i, std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, integers.data() + i * width, width);
  return value;
}

}  // namespace

void Movement::Add(std::span<const std::byte> truth, std::span<const std::byte> moved,
                   double factor) {
  double squares = 0;
  for (std::size_t i = 0; i < allowed_.size(); ++i) {
    const double by =
        std::abs(LoadElement<double>(moved.data(), i) - LoadElement<double>(truth.data(), i));
    if (!std::isfinite(by)) continue;
    allowed_[i] = std::max(allowed_[i], static_cast<float>(factor * by));
    farthest_ = std::max(farthest_, by);
    squares += by * by;
  }
  distance_ = std::max(distance_, std::sqrt(squares));
}

void Movement::AddIntegers(std::span<const std::byte> truth, std::span<const std::byte> moved,
                           std::size_t width) {
  for (std::size_t i = 0; i * width < truth.size(); ++i) {
    const std::uint64_t value = IntegerBytes(moved, i, width);
    if (value != IntegerBytes(truth, i, width)) others_.push_back({i, value});
  }
}

std::vector<std::byte> Movement::Explained(std::span<const std::byte> actual,
                                           std::span<const std::byte> truth,
                                           std::size_t width) const {
  std::vector<std::byte> explained(actual.begin(), actual.end());
  for (const Other& other : others_) {
    if (IntegerBytes(actual, other.element, width) != other.value) continue;
    const std::size_t at = other.element * width;
    std::copy_n(truth.begin() + static_cast<std::ptrdiff_t>(at), width,
                explained.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return explained;
}

void Movement::Settle() {
  std::vector<float> sample;
  const std::size_t step = std::max<std::size_t>(allowed_.size() / kSample, 1);
  for (std::size_t i = 0; i < allowed_.size(); i += step) sample.push_back(allowed_[i]);
  if (sample.empty()) return;
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::ranges::nth_element(sample, middle);
  typical_ = *middle;
}

double Movement::AllowanceOrTypical(std::size_t element) const {
  return std::max(allowed_[element], typical_);
}

Comparison CompareConditioned(const OutputView& view, const Tolerance& tolerance,
                              const Movement& movement, Jumps jumps) {
  ErrorPass pass = ScanOutput(view);
  const ErrorScale scale = ScaleOf(view);
  pass.max_scaled = pass.sum_squared_error = 0;
  double largest = 0;
  double squares = 0;
  ForEachFinite(view, [&](std::size_t i, const Element& element) {
    largest = std::max(largest, element.error());
    squares += element.error() * element.error();
    if (!(std::abs(element.truth) <= scale.largest)) return;
    const double left = std::max(element.error() - movement.AllowanceOrTypical(i), 0.0);
    const double error = left > scale.smallest ? left : 0;
    pass.sum_squared_error += error * error;
    const double scaled = error / (std::abs(element.truth) + scale.rms);
    if (scaled > pass.max_scaled) {
      pass.max_scaled = scaled;
      pass.worst = i;
    }
  });
  if (jumps == Jumps::kAnywhere && largest <= kFurtherFactor * movement.farthest() &&
      std::sqrt(squares) <= kFurtherFactor * movement.distance())
    pass.max_scaled = pass.sum_squared_error = 0;
  return Judge(*view.spec, pass, tolerance, [&view](std::size_t flat) { return Text(view, flat); });
}

double LargeRelativeError(DType dtype) {
  const bool small = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return small ? kLargeRelative16Bit : kLargeRelative;
}

bool OfOneSign(const OutputView& view) {
  bool above = false;
  bool below = false;
  const std::size_t count = view.spec->elements();
  for (std::size_t i = 0; i < count; ++i) {
    const double truth = LoadElement<double>(view.expected.data(), i);
    above = above || truth > 0;
    below = below || truth < 0;
  }
  return !(above && below);
}

std::optional<std::string> WrongSmallValue(const OutputView& view, const Movement& movement,
                                           Jumps jumps) {
  const double large = LargeRelativeError(view.spec->dtype);
  const bool jumped = jumps == Jumps::kAnywhere && movement.farthest() > kJump * ScaleOf(view).rms;
  const double jump = jumped ? kFurtherFactor * movement.farthest() : 0;
  const double told = ScaleOf(view).smallest * kWellAboveSmallest;
  const double largest = ScaleOf(view).largest;
  const double typical = kTypicalFactor * TypicalErrorOfTorch(view);
  std::optional<std::size_t> wrong;
  WithReader(view.spec->dtype, [&](auto read) {
    ForEachFinite(view, [&](std::size_t i, const Element& element) {
      const double size = std::abs(element.truth);
      if (wrong || size <= told || size > largest) return;
      const double torch = std::abs(read(view.native.data(), i) - element.truth);
      const bool known = torch <= kTorchIsNear * large * size;
      const double allowed = std::max(movement.Allowance(i), jump);
      if (known && element.error() > large * size + allowed + typical) wrong = i;
    });
  });
  if (!wrong) return std::nullopt;
  return Text(view, *wrong);
}

}  // namespace pragma
