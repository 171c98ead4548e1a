#include "values/output_pass.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/parallel.h"
#include "core/error_pass.h"
#include "core/task.h"
#include "values/block_errors.h"
#include "values/comparator.h"
#include "values/element.h"

namespace pragma {
namespace {

// Holds one block of a tensor as doubles.
class BlockBuffer final {
 public:
  template <class Reader>
  std::span<const double> Read(const std::byte* data, std::size_t begin, std::size_t end,
                               Reader read) {
    for (std::size_t i = begin; i < end; ++i) values_[i - begin] = read(data, i);
    return std::span(values_).first(end - begin);
  }

 private:
  std::array<double, kBlock> values_;
};

BlockSquares Together(const BlockSquares& a, const BlockSquares& b) {
  return {.sum = a.sum + b.sum, .finite = a.finite + b.finite};
}

template <class Truth>
BlockSquares SquaresOfPart(std::span<const std::byte> expected, std::size_t first, std::size_t last,
                           Truth truth) {
  BlockSquares all;
  BlockBuffer buffer;
  for (std::size_t begin = first; begin < last; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, last);
    all = Together(all, SquaresOf(buffer.Read(expected.data(), begin, end, truth)));
  }
  return all;
}

// Returns the largest value that a type holds. Truths beyond it become infinite in that type.
double LargestOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 65504.0;
    case DType::kBFloat16: return 3.3895313892515355e38;
    case DType::kFloat64: return std::numeric_limits<double>::max();
    default: return static_cast<double>(std::numeric_limits<float>::max());
  }
}

// Returns the size up to which an error counts as no error. For fp16 this is the smallest denormal:
// its normal range is too small to treat everything below it as zero.
double SmallestOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 0x1.0p-24;
    case DType::kFloat64: return std::numeric_limits<double>::min();
    default: return static_cast<double>(std::numeric_limits<float>::min());
  }
}

// Returns the truth as the output's own type could hold it.
double Representable(double r, double largest) {
  return std::abs(r) > largest ? std::copysign(std::numeric_limits<double>::infinity(), r) : r;
}

bool SameNonFinite(double y, double r) {
  return (std::isnan(y) && std::isnan(r)) ||
         (std::isinf(y) && std::isinf(r) && std::signbit(y) == std::signbit(r));
}

// Reads the elements of the two sides.
template <class Reader, class Truth>
struct Readers {
  Reader actual;
  Truth truth;
};

template <class Both>
void FindWorst(const OutputView& view, std::size_t begin, std::size_t end, const ErrorScale& scale,
               const Both& read, ErrorPass& pass) {
  for (std::size_t i = begin; i < end; ++i) {
    const double y = read.actual(view.actual.data(), i);
    const double r = read.truth(view.expected.data(), i);
    if (!std::isfinite(y) || !(std::abs(r) <= scale.largest)) continue;
    const double error = std::abs(y - r);
    const double scaled = error > scale.smallest ? error / (std::abs(r) + scale.rms) : 0;
    if (scaled > pass.max_scaled) {
      pass.max_scaled = scaled;
      pass.worst = i;
    }
  }
}

// Counts mismatches at non-finite elements: where one side is not finite, the other must be the
// same.
template <class Both>
void CountMismatches(const OutputView& view, std::size_t begin, std::size_t end, const Both& read,
                     ErrorPass& pass) {
  const double largest = LargestOf(view.spec->dtype);
  for (std::size_t i = begin; i < end; ++i) {
    const double y = read.actual(view.actual.data(), i);
    const double r = Representable(read.truth(view.expected.data(), i), largest);
    if (std::isfinite(y) && std::isfinite(r)) continue;
    if (SameNonFinite(y, r)) continue;
    if (std::isfinite(r) && pass.mismatched++ == 0) pass.first_mismatch = i;
    if (!std::isfinite(r) && pass.odd_truth++ == 0) pass.first_odd = i;
  }
}

template <class Both>
ErrorPass ScanPart(const OutputView& view, std::size_t first, std::size_t last,
                   const ErrorScale& scale, const Both& read) {
  ErrorPass pass;
  BlockBuffer actual;
  BlockBuffer truth;
  for (std::size_t begin = first; begin < last; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, last);
    const BlockErrors block =
        ErrorsOf(actual.Read(view.actual.data(), begin, end, read.actual),
                 truth.Read(view.expected.data(), begin, end, read.truth), scale);
    pass.sum_squared_error += block.squared_error;
    pass.sum_squared += block.squared;
    pass.max_abs = std::max(pass.max_abs, block.max_abs);
    pass.max_rel = std::max(pass.max_rel, block.max_rel);
    pass.max_any_rel = std::max(pass.max_any_rel, block.max_any_rel);
    if (block.max_scaled > pass.max_scaled) FindWorst(view, begin, end, scale, read, pass);
    if (block.odd > 0) CountMismatches(view, begin, end, read, pass);
  }
  return pass;
}

void Append(ErrorPass& pass, const ErrorPass& part) {
  pass.sum_squared_error += part.sum_squared_error;
  pass.sum_squared += part.sum_squared;
  pass.max_abs = std::max(pass.max_abs, part.max_abs);
  pass.max_rel = std::max(pass.max_rel, part.max_rel);
  pass.max_any_rel = std::max(pass.max_any_rel, part.max_any_rel);
  if (part.max_scaled > pass.max_scaled) {
    pass.max_scaled = part.max_scaled;
    pass.worst = part.worst;
  }
  if (pass.mismatched == 0) pass.first_mismatch = part.first_mismatch;
  pass.mismatched += part.mismatched;
  if (pass.odd_truth == 0) pass.first_odd = part.first_odd;
  pass.odd_truth += part.odd_truth;
}

template <class Both>
ErrorPass ScanAll(const OutputView& view, const Both& read) {
  const ErrorScale scale = ScaleOf(view);
  ErrorPass pass;
  for (const ErrorPass& part :
       ByParts<ErrorPass>(view.spec->elements(), [&](std::size_t begin, std::size_t end) {
         return ScanPart(view, begin, end, scale, read);
       })) {
    Append(pass, part);
  }
  return pass;
}

}  // namespace

DType ExpectedType(const TensorSpec& spec, std::span<const std::byte> expected) {
  const bool wide = IsFloating(spec.dtype) && expected.size() > spec.bytes();
  return wide ? DType::kFloat64 : spec.dtype;
}

BlockSquares SquaresOfAll(const TensorSpec& spec, std::span<const std::byte> expected) {
  BlockSquares all;
  WithReader(ExpectedType(spec, expected), [&](auto truth) {
    for (const BlockSquares& part :
         ByParts<BlockSquares>(spec.elements(), [&](std::size_t begin, std::size_t end) {
           return SquaresOfPart(expected, begin, end, truth);
         })) {
      all = Together(all, part);
    }
  });
  return all;
}

double RmsOfFinite(const TensorSpec& spec, std::span<const std::byte> expected) {
  const BlockSquares all = SquaresOfAll(spec, expected);
  return all.finite == 0 ? 0 : std::sqrt(all.sum / static_cast<double>(all.finite));
}

ErrorScale ScaleOf(const OutputView& view) {
  // A tensor of zeros has no scale. Only exact zeros pass for it.
  return {
      .rms = std::max(RmsOfFinite(*view.spec, view.expected), std::numeric_limits<double>::min()),
      .largest = LargestOf(view.spec->dtype),
      .smallest = SmallestOf(view.spec->dtype)};
}

ErrorPass ScanOutput(const OutputView& view) {
  const bool wide = ExpectedType(*view.spec, view.expected) == DType::kFloat64;
  return WithReader(view.spec->dtype, [&](auto own) {
    const auto wide_element = [](const std::byte* p, std::size_t i) {
      return LoadElement<double>(p, i);
    };
    return wide ? ScanAll(view, Readers{own, wide_element}) : ScanAll(view, Readers{own, own});
  });
}

ErrorPass ScanExact(const OutputView& view) {
  ErrorPass pass;
  const std::size_t size = DTypeSize(view.spec->dtype);
  const std::size_t count = view.spec->elements();
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* y = view.actual.data() + i * size;
    const bool equal =
        std::memcmp(y, view.expected.data() + i * size, size) == 0 ||
        (!view.native.empty() && std::memcmp(y, view.native.data() + i * size, size) == 0);
    if (!equal && pass.mismatched++ == 0) pass.first_mismatch = i;
  }
  return pass;
}

}  // namespace pragma
