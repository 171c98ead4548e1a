// NestWindows: reductions over windows in two steps. Along a row of vectors, neighbouring windows
// read the same elements, and not contiguously. The other dimensions of the window have neither
// problem. So they are reduced first, into a row that stays in the L1 cache and already holds the
// values outside the tensor. The row is then reduced along itself. A 3 x 3 window takes three
// contiguous loads and three others instead of nine of the latter kind.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_limits.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

class NestWindows : public NestLimits {
 protected:
  using NestLimits::NestLimits;
  ~NestWindows() = default;

  // Windows along the dimension of the lanes. A window reads element c * stride + w * step of a
  // row, which the other dimensions select.
  struct Windows {
    const Step* step = nullptr;
    const Load* load = nullptr;
    std::size_t across = 0;  // the dimension of w
    std::int64_t stride = 1;
    std::int64_t apart = 1;
    std::optional<Bound> bound;  // bound of the row
    LoopLimits limits;           // limits of the other dimensions
    [[nodiscard]] std::int64_t Span(std::int64_t windows, std::int64_t width) const {
      return (windows - 1) * stride + (width - 1) * apart + 1;
    }
  };

  [[nodiscard]] std::optional<Windows> WindowsOf() {
    if (nest_.lane < 0 || nest_.LaneInside() || nest_.phases[0].outer) return std::nullopt;
    for (std::size_t p = 1; p < nest_.phases.size(); ++p)
      if (!nest_.phases[p].outer) return std::nullopt;
    if (nest_.phases[0].steps.size() != 1) return std::nullopt;
    Windows windows;
    windows.step = &nest_.steps[nest_.phases[0].steps[0]];
    if (windows.step->kind != Step::Kind::kFold || IsPosition(*windows.step)) return std::nullopt;
    if (windows.step->expr->op != ExprOp::kLoad) return std::nullopt;
    windows.load = &windows.step->expr->load;
    if (!windows.load->indirect.empty() || !FindAcross(windows)) return std::nullopt;
    if (!FindBounds(windows)) return std::nullopt;
    return windows;
  }

  // Returns the number of windows computed at once: all windows of a row, or as many as fit in the
  // row buffer.
  [[nodiscard]] std::int64_t WindowsAtOnce() const {
    constexpr std::int64_t kMost = 256;
    const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
    return std::min(kMost, (size + kAligned - 1) / kAligned * kAligned);
  }

  // Opens the loop over blocks of windows, and fills the row of each block.
  void WriteRow(const Windows& windows) {
    const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
    const std::int64_t most = WindowsAtOnce();
    const std::int64_t width = nest_.shape[windows.across];
    needs_.pieces.insert(VectorPiece::kRows);
    names_[windows.step->buffer] = values_.NewName(windows.step->name + "_down");
    AskForRows(windows);
    out_.Line("// Down the windows into a row, then along it.");
    out_.Line(fmt::format("alignas(64) float row[{} + kLanes];", windows.Span(most, width)));
    out_.Line(fmt::format("for (std::int64_t block = 0; block < {}; block += {}) {{", size, most));
    out_.Line(
        fmt::format("const std::int64_t end = block + {0} < {1} ? block + {0} : {1};", most, size));
    out_.Line(fmt::format("const std::int64_t span = (end - block - 1) * {} + {};", windows.stride,
                          (width - 1) * windows.apart + 1));
    WriteEnds(windows);
    WriteDown(windows);
  }

  // Returns an element of the row, for the window that begins at c.
  [[nodiscard]] std::string InRow(const Windows& windows) const {
    const std::string place = fmt::format("row + (c - block) * {} + {} * {}", windows.stride,
                                          loops_[windows.across], windows.apart);
    if (windows.stride == 1) return fmt::format("LoadLanes({}, lanes)", place);
    needs_.pieces.insert(VectorPiece::kStrided);
    return fmt::format("LoadStrided({}, {}, lanes)", place, windows.stride);
  }

 private:
  static constexpr std::int64_t kNearWindows = 4;  // largest stride that loads and shuffles handle
  static constexpr std::int64_t kLongestWindow = 64;

  [[nodiscard]] bool FindAcross(Windows& windows) const {
    const auto lane = static_cast<std::size_t>(nest_.lane);
    const AffineForm& address = windows.load->address;
    windows.stride = address.factor[lane];
    if (windows.stride < 1 || windows.stride > kNearWindows) return false;
    bool found = false;
    std::int64_t others = 1;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (!nest_.inner[i]) continue;
      const std::int64_t factor = address.factor[i];
      if (factor >= 1 && factor * nest_.shape[i] <= kLongestWindow &&
          (!found || factor < windows.apart)) {
        windows.across = i;
        windows.apart = factor;
        found = true;
      }
      others *= nest_.shape[i];
    }
    return found && others > nest_.shape[windows.across];
  }

  [[nodiscard]] bool FindBounds(Windows& windows) {
    const auto lane = static_cast<std::size_t>(nest_.lane);
    if (windows.load->bounds.empty()) return true;
    windows.limits = LimitsOf(nest_.phases[0]);
    for (const Bound& bound : windows.load->bounds) {
      const bool kept =
          std::ranges::find(windows.limits.assumed, bound) != windows.limits.assumed.end();
      if (kept) {
        if (windows.limits.of.contains(windows.across)) return false;
        continue;
      }
      if (windows.bound || SkippableLoad(*windows.step) == nullptr) return false;
      for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
        const std::int64_t wanted =
            i == lane || i == windows.across ? windows.load->address.factor[i] : 0;
        if (bound.form.factor[i] != wanted) return false;
      }
      windows.bound = bound;
    }
    return true;
  }

  // Prefetches rows. Each step of the dimension that is divided among windows first reads new rows
  // one after the other. Each iteration inside it prefetches its share of the rows that the next
  // step reads.
  void AskForRows(const Windows& windows) {
    const Buffer& buffer = program_.buffers[static_cast<std::size_t>(windows.load->buffer)];
    if (!IsBeyondCaches(buffer)) return;
    const AffineForm& address = windows.load->address;
    std::size_t furthest = windows.across;  // the window dimension with the largest stride
    std::size_t count = 0;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (!nest_.inner[i] || i == windows.across) continue;
      ++count;
      if (address.factor[i] > address.factor[furthest]) furthest = i;
    }
    const std::vector<std::size_t> outer = OuterLoops();
    if (outer.size() < count) return;
    const std::size_t stepped = outer[outer.size() - count];
    const std::int64_t fresh = address.factor[stepped];
    if (fresh <= 0) return;
    constexpr std::int64_t kEarly = 2048;  // least distance in floats, as memory is slow to respond
    AffineForm place = address;
    place.offset += (nest_.shape[furthest] - 1) * address.factor[furthest] +
                    std::gcd(fresh, address.factor[furthest]) + (kEarly - 1) / fresh * fresh;
    std::int64_t share = fresh;
    for (std::size_t at = outer.size() - count + 1; at < outer.size(); ++at)
      share /= nest_.shape[outer[at]];
    share = std::max(share, kAligned);
    std::int64_t within = share;
    for (std::size_t at = outer.size(); at-- > outer.size() - count + 1;) {
      place.factor[outer[at]] = within;
      within *= nest_.shape[outer[at]];
    }
    for (std::size_t i = 0; i < nest_.shape.size(); ++i)
      if (nest_.inner[i] || static_cast<int>(i) == nest_.lane) place.factor[i] = 0;
    out_.Line(
        fmt::format("for (std::int64_t begin = 0; begin < {}; begin += {}) {{", share, kAligned));
    AskFor(out_, windows.load->buffer, place, " + begin");
    out_.Line("}");
  }

  // Writes where the row begins and ends inside the tensor. The rest of the row holds the value
  // outside.
  void WriteEnds(const Windows& windows) {
    if (!windows.bound) return;
    const std::string start =
        fmt::format("(block * {} - {})", windows.stride, -windows.bound->form.offset);
    out_.Line(fmt::format("const std::int64_t from = {0} < 0 ? -{0} : 0;", start));
    out_.Line(fmt::format("const std::int64_t to = {1} - {0} < span ? {1} - {0} : span;", start,
                          windows.bound->limit));
    out_.Line(
        fmt::format("FillOutside(row, from, to, span, {});", Identity(FormOf(*windows.step))));
  }

  void WriteDown(const Windows& windows) {
    constexpr int kDown = 4;  // number of adjacent vectors
    const std::string from = windows.bound ? "from" : "0";
    const std::string to = windows.bound ? "to" : "span";
    out_.Line(fmt::format("for (std::int64_t begin = {}; begin < {}; begin += {} * kLanes) {{",
                          from, to, kDown));
    out_.Line(
        fmt::format("ForColumns<{}>(begin, {}, [&](std::int64_t first, auto vectors, "
                    "[[maybe_unused]] auto lanes) INLINE {{",
                    kDown, to));
    out_.Line("constexpr int V = decltype(vectors)::value;");
    const FoldForm form = FormOf(*windows.step);
    for (const std::string& line : DeclareFold(form)) out_.Line(line);
    std::size_t open = 0;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (!nest_.inner[i] || i == windows.across) continue;
      OpenInner(i, windows.limits);
      ++open;
    }
    const std::string value =
        fmt::format("LoadLanes({} + first + v * kLanes, lanes)", RowInMemory(windows));
    out_.Line("for (int v = 0; v < V; ++v) {");
    for (const std::string& line : AddToFold(form, value, "")) out_.Line(line);
    Close(open + 1);
    out_.Line(fmt::format(
        "for (int v = 0; v < V; ++v) StoreLanes(row + first + v * kLanes, {}[v], lanes);",
        form.name));
    out_.Line("});");
    out_.Line("}");
  }

  // Returns the address of the row's first element.
  [[nodiscard]] std::string RowInMemory(const Windows& windows) const {
    std::vector<std::string> loops = loops_;
    loops[static_cast<std::size_t>(nest_.lane)] = "block";
    AffineForm address = windows.load->address;
    address.factor[windows.across] = 0;
    const std::string index = FormText(address, loops);
    const std::string& name = program_.buffers[static_cast<std::size_t>(windows.load->buffer)].name;
    return index == "0" ? name : name + " + " + index;
  }
};

}  // namespace pragma::expert
