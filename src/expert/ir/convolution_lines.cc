#include "expert/ir/convolution_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "expert/ir/program.h"

namespace pragma::expert {
namespace {

std::int64_t CeilDivide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::int64_t ConvolutionLine::Lowest() const {
  return in_offset + std::min<std::int64_t>(in_tap, 0) * (taps - 1);
}

std::int64_t ConvolutionLine::Highest() const {
  return in_offset + (count - 1) * in_step + std::max<std::int64_t>(in_tap, 0) * (taps - 1);
}

std::vector<ConvolutionLine> LinesOf(const ConvolutionHint& form, std::size_t dim) {
  const std::int64_t stride = form.stride[dim];
  const std::int64_t dilation = form.dilation[dim];
  if (!form.transposed) {
    return {{.count = form.out_size[dim],
             .taps = form.kernel[dim],
             .in_step = stride,
             .in_tap = dilation,
             .in_offset = -form.padding[dim]}};
  }
  std::vector<ConvolutionLine> lines;
  const std::int64_t common = std::gcd(stride, dilation);
  for (std::int64_t residue = 0; residue < std::min(stride, form.out_size[dim]); ++residue) {
    ConvolutionLine line{.first = residue,
                         .step = stride,
                         .count = CeilDivide(form.out_size[dim] - residue, stride),
                         .tap_step = stride / common,
                         .in_tap = -dilation / common};
    const std::int64_t place = residue + form.padding[dim];
    while (line.tap_first < form.kernel[dim] && (place - line.tap_first * dilation) % stride != 0)
      ++line.tap_first;
    if (line.tap_first < form.kernel[dim]) {
      line.taps = CeilDivide(form.kernel[dim] - line.tap_first, line.tap_step);
      line.in_offset = (place - line.tap_first * dilation) / stride;
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::vector<ConvolutionLine>> ConvolutionParts(const ConvolutionHint& form) {
  std::vector<std::vector<ConvolutionLine>> parts{{}};
  for (std::size_t dim = 0; dim < form.kernel.size(); ++dim) {
    std::vector<std::vector<ConvolutionLine>> longer;
    for (const std::vector<ConvolutionLine>& part : parts) {
      for (const ConvolutionLine& line : LinesOf(form, dim)) {
        longer.push_back(part);
        longer.back().push_back(line);
      }
    }
    parts = std::move(longer);
  }
  return parts;
}

}  // namespace pragma::expert
