#include "expert/triton/tile_index.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "expert/affine.h"
#include "expert/emit_expression.h"

namespace pragma::triton {
namespace {

bool IsPlain(const std::string& text) { return text.find(' ') == std::string::npos; }

}  // namespace

TileIndex::TileIndex(Shape shape, std::vector<TileAxis> axes)
    : shape_(std::move(shape)), axes_(std::move(axes)) {}

std::int64_t TileIndex::Count(std::size_t axis) const { return Elements(shape_, axes_[axis].dims); }

std::string TileIndex::DimName(std::size_t axis, std::size_t dim) {
  const TileAxis& along = axes_[axis];
  if (along.dims.size() == 1) return along.index;
  used_.insert(dim);
  return fmt::format("{}_{}", along.index, dim);
}

std::vector<std::string> TileIndex::Definitions(std::size_t axis) {
  const TileAxis& along = axes_[axis];
  std::vector<std::string> lines;
  std::int64_t stride = 1;
  for (std::size_t i = along.dims.size(); i-- > 0;) {
    const std::size_t dim = along.dims[i];
    if (used_.erase(dim) > 0) {
      std::string text = along.index;
      if (stride > 1) text += fmt::format(" // {}", stride);
      if (i > 0) text += fmt::format(" % {}", shape_[dim]);
      lines.insert(lines.begin(), fmt::format("{}_{} = {}", along.index, dim, text));
    }
    stride *= shape_[dim];
  }
  return lines;
}

Axes TileIndex::AxesOf(const AffineForm& form) const {
  Axes axes = 0;
  for (std::size_t a = 0; a < axes_.size(); ++a)
    for (const std::size_t dim : axes_[a].dims)
      if (form.factor[dim] != 0) axes |= 1U << a;
  return axes;
}

IndexText TileIndex::Text(const AffineForm& form) {
  IndexText result;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::string terms;
    for (const std::size_t dim : axes_[a].dims)
      if (form.factor[dim] != 0) AppendTerm(terms, DimName(a, dim), form.factor[dim]);
    if (terms.empty()) continue;
    result.axes |= 1U << a;
    const std::string& suffix = axes_[a].suffix;
    if (!suffix.empty())
      terms = (IsPlain(terms) && terms[0] != '-' ? terms : "(" + terms + ")") + suffix;
    result.code += (result.code.empty() ? "" : " + ") + terms;
  }
  if (result.code.empty()) {
    result.code = std::to_string(form.offset);
  } else if (form.offset != 0) {
    result.code += fmt::format(" {} {}", form.offset < 0 ? "-" : "+", std::abs(form.offset));
  }
  return result;
}

std::string TileIndex::Inside(Axes axes) const {
  std::string text;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if ((axes >> a & 1U) == 0 || axes_[a].inside.empty()) continue;
    text += (text.empty() ? "" : " & ") + axes_[a].inside + axes_[a].suffix;
  }
  return text;
}

std::string TileIndex::Zero(Axes axes) const {
  std::string text;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    if ((axes >> a & 1U) == 0) continue;
    text += fmt::format("{}0 * {}{}", text.empty() ? "" : " + ", axes_[a].index, axes_[a].suffix);
  }
  return text;
}

}  // namespace pragma::triton
