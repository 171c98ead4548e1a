// Writes the copy of the input that a band of outputs reads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expert/cpp/conv_plan.h"
#include "expert/cpp/conv_writer.h"

namespace pragma::expert {

// Writes the code that copies a piece of a row, which begins at step `band`, to `to` from `from`.
void ConvWriter::PreparePiece() {
  const AxisPlan& x = plan_.axes.back();
  const std::int64_t length = plan_.extent(rank() - 1);
  for (const std::int64_t slot : x.slots) {
    out_.Open("");
    out_.Line("// The copy's elements [begin, end) exist in the input.");
    out_.Line("const std::int64_t origin = band * {} + {};", x.in_stride, slot - x.margin);
    out_.Line(
        "const std::int64_t begin = std::min<std::int64_t>({0}, (std::max<std::int64_t>(-origin, "
        "0) + {1}) / {2});",
        length, x.in_stride - 1, x.in_stride);
    out_.Line(
        "const std::int64_t end = std::clamp<std::int64_t>(origin >= {0} ? 0 : ({0} - origin + "
        "{1}) / {2}, begin, {3});",
        x.size, x.in_stride - 1, x.in_stride, length);
    out_.Line("std::fill_n(to, begin, 0.0f);");
    out_.Line("for (std::int64_t i = begin; i < end; ++i) to[i] = from[i * {} + origin];",
              x.in_stride);
    out_.Line("std::fill_n(to + end, {} - end, 0.0f);", length);
    out_.Line("to += {};", length);
    out_.Close();
  }
}

// Writes the code that copies one row, to `to` from `from`.
void ConvWriter::PrepareRow() {
  const AxisPlan& x = plan_.axes.back();
  const std::int64_t length = plan_.extent(rank() - 1);
  for (std::size_t slot = 0; slot < x.slots.size(); ++slot) {
    // Position y of the slot holds input y * in_stride + origin. [begin, end) is the range of y for
    // which that input exists.
    const std::int64_t origin = x.slots[slot] - x.margin;
    const std::int64_t begin = std::clamp<std::int64_t>(
        (std::max<std::int64_t>(-origin, 0) + x.in_stride - 1) / x.in_stride, 0, length);
    const std::int64_t end = std::clamp<std::int64_t>(
        origin >= x.size ? 0 : (x.size - origin + x.in_stride - 1) / x.in_stride, begin, length);
    if (begin > 0) out_.Line("std::fill_n(to, {}, 0.0f);", begin);
    if (end > begin && x.in_stride == 1) {
      out_.Line("std::copy_n(from + {}, {}, to + {});", origin + begin, end - begin, begin);
    } else if (end > begin) {
      out_.Line("for (std::int64_t i = {}; i < {}; ++i) to[i] = from[i * {} + {}];", begin, end,
                x.in_stride, origin);
    }
    if (end < length) out_.Line("std::fill_n(to + {}, {}, 0.0f);", end, length - end);
    out_.Line("to += {};", length);
  }
}

// Opens the loops over what a band reads along an axis, and writes its position in the input.
// Returns the number of loops.
int ConvWriter::OpenInput(std::size_t i) {
  const AxisPlan& axis = plan_.axes[i];
  const std::string name = axis_name(i);
  const bool phases = axis.slots.size() > 1;
  if (phases) {
    std::vector<std::string> slots;
    for (const std::int64_t slot : axis.slots)
      slots.push_back(fmt::format("std::int64_t{{{}}}", slot));
    out_.Open("for (const std::int64_t phase_{} : {{{}}})", name, fmt::join(slots, ", "));
  }
  out_.Open("for (std::int64_t {0}_step = 0; {0}_step < {1}; ++{0}_step)", name, plan_.extent(i));
  std::string where =
      i == 0 && banded() ? fmt::format("(band + {}_step)", name) : fmt::format("{}_step", name);
  if (axis.in_stride > 1) where += fmt::format(" * {}", axis.in_stride);
  where += phases ? fmt::format(" + phase_{} - {}", name, axis.margin)
                  : fmt::format(" - {}", axis.margin - axis.slots[0]);
  out_.Line("const std::int64_t {} = {};", name, where);
  return phases ? 2 : 1;
}

// Writes zeros for rows that are outside the input.
void ConvWriter::SkipOutside() {
  std::string outside;
  for (std::size_t i = 0; i + 1 < rank(); ++i)
    outside += fmt::format("{0}{1} < 0 || {1} >= {2}", outside.empty() ? "" : " || ", axis_name(i),
                           plan_.axes[i].size);
  if (outside.empty()) return;
  const std::int64_t row =
      plan_.extent(rank() - 1) * static_cast<std::int64_t>(plan_.axes.back().slots.size());
  out_.Open("if ({})", outside);
  out_.Line("std::fill_n(to, {}, 0.0f);", row);
  out_.Line("to += {};", row);
  out_.Line("continue;");
  out_.Close();
}

void ConvWriter::PrepareInput() {
  std::vector<std::int64_t> steps(rank());  // distances in the input
  std::int64_t size = 1;
  for (std::size_t i = rank(); i-- > 0;) {
    steps[i] = size;
    size *= plan_.axes[i].size;
  }
  out_.Line("// What a band reads of one group's channels, zeros where the input ends{}.",
            plan_.axes.back().in_stride > 1 ? ", inputs a stride apart side by side" : "");
  out_.Open("static void PrepareInput(const float* x{}, float* input)",
            banded() ? ", std::int64_t band" : "");
  out_.Open("for (std::int64_t c = 0; c < kIn; ++c)");
  out_.Line("const float* plane = x + c * {};", size);
  out_.Line("float* to = input + c * kChannelPitch;");
  std::string from = "plane";
  int opened = 0;
  for (std::size_t i = 0; i + 1 < rank(); ++i) {
    opened += OpenInput(i);
    from += fmt::format(" + {} * {}", axis_name(i), steps[i]);
  }
  SkipOutside();
  out_.Line("const float* from = {};", from);
  if (in_pieces()) {
    PreparePiece();
  } else {
    PrepareRow();
  }
  for (int i = 0; i < opened; ++i) out_.Close();
  out_.Close();
  out_.Close();
}

}  // namespace pragma::expert
