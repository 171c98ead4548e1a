#include "expert/triton/tile_index.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/triton/py_lines.h"

namespace pragma::expert::triton {
namespace {

bool IsPlain(const std::string& text) { return text.find(' ') == std::string::npos; }

}  // namespace

TileIndex::TileIndex(Shape shape, std::vector<TileAxis> axes)
    : shape_(std::move(shape)), axes_(std::move(axes)) {}

std::int64_t TileIndex::Count(std::size_t axis) const { return Elements(shape_, axes_[axis].dims); }

// Extends the span as long as a step of each dimension equals the whole extent of the next.
TileIndex::Span TileIndex::SpanAt(const AffineForm& form, std::size_t axis,
                                  std::size_t first) const {
  const std::vector<std::size_t>& dims = axes_[axis].dims;
  std::size_t last = first;
  while (last + 1 < dims.size() &&
         form.factor[dims[last]] == form.factor[dims[last + 1]] * shape_[dims[last + 1]])
    ++last;
  return {axis, first, last};
}

std::string TileIndex::Name(const Span& span) const {
  const TileAxis& along = axes_[span.axis];
  if (span.first == 0 && span.last + 1 == along.dims.size()) return along.index;
  std::string name = fmt::format("{}_{}", along.index, along.dims[span.first]);
  if (span.last > span.first) name += fmt::format("_{}", along.dims[span.last]);
  return name;
}

std::string TileIndex::Definition(const Span& span) const {
  const TileAxis& along = axes_[span.axis];
  std::int64_t stride = 1;
  for (std::size_t i = span.last + 1; i < along.dims.size(); ++i) stride *= shape_[along.dims[i]];
  std::int64_t count = 1;
  for (std::size_t i = span.first; i <= span.last; ++i) count *= shape_[along.dims[i]];
  std::string text = fmt::format("{} = {}", Name(span), along.index);
  if (stride > 1) text += fmt::format(" // {}", stride);
  if (span.first > 0) text += fmt::format(" % {}", count);
  return text;
}

std::vector<std::string> TileIndex::Definitions(std::size_t axis) {
  std::vector<std::string> lines;
  for (const Span& span : used_)
    if (span.axis == axis) lines.push_back(Definition(span));
  std::erase_if(used_, [axis](const Span& span) { return span.axis == axis; });
  return lines;
}

Axes TileIndex::AxesOf(const AffineForm& form) const {
  Axes axes = 0;
  for (std::size_t a = 0; a < axes_.size(); ++a)
    for (const std::size_t dim : axes_[a].dims)
      if (form.factor[dim] != 0) axes |= 1U << a;
  return axes;
}

// Returns terms such as "k_4 * 9 + k_6 * -1". A difference would be shorter. But Triton 3.6 assumes
// that a divisor of k_6 also divides `0 - k_6` for each element, and then loads several elements at
// misaligned addresses.
std::string TileIndex::Terms(const AffineForm& form, std::size_t axis) {
  std::string terms;
  for (std::size_t i = 0; i < axes_[axis].dims.size(); ++i) {
    const Span span = SpanAt(form, axis, i);
    i = span.last;
    const std::int64_t factor = form.factor[axes_[axis].dims[span.last]];
    if (factor == 0) continue;
    if (Name(span) != axes_[axis].index) used_.insert(span);
    terms += (terms.empty() ? "" : " + ") + Name(span);
    if (factor != 1) terms += fmt::format(" * {}", factor);
  }
  return terms;
}

IndexText TileIndex::Text(const AffineForm& form) {
  IndexText result;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::string terms = Terms(form, a);
    if (terms.empty()) continue;
    result.axes |= 1U << a;
    const std::string& suffix = axes_[a].suffix;
    if (!suffix.empty()) terms = (IsPlain(terms) ? terms : "(" + terms + ")") + suffix;
    result.code += (result.code.empty() ? "" : " + ") + terms;
  }
  if (result.code.empty()) {
    result.code = std::to_string(form.offset);
  } else if (form.offset != 0) {
    result.code += fmt::format(" {} {}", form.offset < 0 ? "-" : "+", std::abs(form.offset));
  }
  return result;
}

void TileIndex::Define(std::size_t axis, PyLines& out) {
  for (const std::string& line : Definitions(axis)) out.Line(line);
  if (const std::string line = InsideDefinition(axis); !line.empty()) out.Line(line);
}

std::string TileIndex::InsideDefinition(std::size_t axis) const {
  const TileAxis& along = axes_[axis];
  if (along.inside.empty()) return "";
  return fmt::format("{} = {} < {}", along.inside, along.index, Count(axis));
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

}  // namespace pragma::expert::triton
