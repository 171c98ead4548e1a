#include "expert/cpp/nest_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "expert/cpp/column_pass.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_ahead.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/nest_limits.h"
#include "expert/cpp/nest_work.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/past_caches.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kNearWindows = 4;  // largest stride that loads and shuffles handle
constexpr std::int64_t kLongestWindow = 64;

bool FindAcross(const Nest& nest, Windows& windows) {
  const auto lane = static_cast<std::size_t>(nest.lane);
  const AffineForm& address = windows.load->address;
  windows.stride = address.factor[lane];
  if (windows.stride < 1 || windows.stride > kNearWindows) return false;
  bool found = false;
  std::int64_t others = 1;
  for (std::size_t i = 0; i < nest.shape.size(); ++i) {
    if (!nest.inner[i]) continue;
    const std::int64_t factor = address.factor[i];
    if (factor >= 1 && factor * nest.shape[i] <= kLongestWindow &&
        (!found || factor < windows.apart)) {
      windows.across = i;
      windows.apart = factor;
      found = true;
    }
    others *= nest.shape[i];
  }
  return found && others > nest.shape[windows.across];
}

// Returns whether a bound moves along the row as the address does, and with nothing else.
bool BoundsRow(const Nest& nest, const Windows& windows, const Bound& bound) {
  for (std::size_t i = 0; i < nest.shape.size(); ++i) {
    const bool along = static_cast<int>(i) == nest.lane || i == windows.across;
    if (bound.form.factor[i] != (along ? windows.load->address.factor[i] : 0)) return false;
  }
  return true;
}

bool FindBounds(NestContext& context, Windows& windows) {
  if (windows.load->bounds.empty()) return true;
  windows.limits = LimitsOf(context, context.nest.phases[0]);
  for (const Bound& bound : windows.load->bounds) {
    const bool kept =
        std::ranges::find(windows.limits.assumed, bound) != windows.limits.assumed.end();
    if (kept) {
      if (windows.limits.of.contains(windows.across)) return false;
      continue;
    }
    if (windows.bound || SkippableLoad(*windows.step) == nullptr) return false;
    if (!BoundsRow(context.nest, windows, bound)) return false;
    windows.bound = bound;
  }
  return true;
}

class WindowWriter final {
 public:
  WindowWriter(NestContext& context, const Windows& windows)
      : context_(context),
        nest_(context.nest),
        out_(context.out),
        windows_(windows),
        folds_(context) {}

  void Write() {
    const std::vector<std::size_t> outer = OuterLoops(nest_);
    SharedWork work(context_, static_cast<int>(outer.size()));
    for (const std::size_t i : outer) OpenLoop(context_, i);
    if (outer.empty()) out_.Line("{");
    WriteRow();
    out_.Line("for (std::int64_t along = block; along < end; along += kLanes) {");
    out_.Line(
        fmt::format("ForColumns<1>(along, {}, [&](std::int64_t first, auto vectors, "
                    "[[maybe_unused]] auto lanes) INLINE {{",
                    LaneCount(nest_)));
    out_.Line("constexpr int V = decltype(vectors)::value;");
    WriteAlong();
    for (std::size_t p = 1; p < nest_.phases.size(); ++p)
      WriteColumnsOnce(context_, nest_.phases[p]);
    out_.Line("});");
    CloseLoops(context_, std::max<std::size_t>(outer.size(), 1) + 2);
    work.Close();
  }

 private:
  // Returns the number of windows computed at once: all windows of a row, or as many as fit in the
  // row buffer.
  [[nodiscard]] std::int64_t WindowsAtOnce() const {
    constexpr std::int64_t kMost = 256;
    return std::min(kMost, (LaneCount(nest_) + kFloatsOfLine - 1) / kFloatsOfLine * kFloatsOfLine);
  }

  // Opens the loop over blocks of windows, and fills the row of each block.
  void WriteRow() {
    const std::int64_t size = LaneCount(nest_);
    const std::int64_t most = WindowsAtOnce();
    const std::int64_t width = nest_.shape[windows_.across];
    context_.needs.pieces.insert(VectorPiece::kRows);
    folds_.Name(*windows_.step, "_down");
    AskForRows();
    out_.Line("// Down the windows into a row, then along it.");
    out_.Line(fmt::format("alignas(64) float row[{} + kLanes];", windows_.Span(most, width)));
    out_.Line(fmt::format("for (std::int64_t block = 0; block < {}; block += {}) {{", size, most));
    out_.Line(
        fmt::format("const std::int64_t end = block + {0} < {1} ? block + {0} : {1};", most, size));
    out_.Line(fmt::format("const std::int64_t span = (end - block - 1) * {} + {};", windows_.stride,
                          (width - 1) * windows_.apart + 1));
    WriteEnds();
    WriteDown();
  }

  // Prefetches rows. Each step of the dimension that is divided among windows first reads new rows
  // one after the other. Each iteration inside it prefetches its share of the rows that the next
  // step reads.
  void AskForRows() {
    const Buffer& buffer =
        context_.program.buffers[static_cast<std::size_t>(windows_.load->buffer)];
    if (!IsBeyondCaches(context_, buffer)) return;
    const AffineForm& address = windows_.load->address;
    std::vector<std::size_t> down = InnerLoops(nest_);
    std::erase(down, windows_.across);
    std::size_t furthest = windows_.across;  // the window dimension with the largest stride
    for (const std::size_t i : down)
      if (address.factor[i] > address.factor[furthest]) furthest = i;
    const std::vector<std::size_t> outer = OuterLoops(nest_);
    if (outer.size() < down.size()) return;
    const std::size_t at = outer.size() - down.size();  // the loop whose steps read new rows
    const std::int64_t fresh = address.factor[outer[at]];
    if (fresh <= 0) return;
    constexpr std::int64_t kEarly = 2048;  // least distance in floats, as memory is slow to respond
    AffineForm place = address;
    place.offset += (nest_.shape[furthest] - 1) * address.factor[furthest] +
                    std::gcd(fresh, address.factor[furthest]) + (kEarly - 1) / fresh * fresh;
    const std::int64_t share =
        ShareOf(fresh, {outer.begin() + static_cast<std::ptrdiff_t>(at) + 1, outer.end()}, place);
    out_.Line(fmt::format("for (std::int64_t begin = 0; begin < {}; begin += {}) {{", share,
                          kFloatsOfLine));
    AskFor(context_, out_, windows_.load->buffer, place, " + begin");
    out_.Line("}");
  }

  // Divides `fresh` floats among the iterations of these loops, and points `place` at the share of
  // each. Returns the size of a share.
  std::int64_t ShareOf(std::int64_t fresh, const std::vector<std::size_t>& loops,
                       AffineForm& place) const {
    std::int64_t share = fresh;
    for (const std::size_t i : loops) share /= nest_.shape[i];
    share = std::max(share, kFloatsOfLine);
    std::int64_t within = share;
    for (std::size_t i = loops.size(); i-- > 0;) {
      place.factor[loops[i]] = within;
      within *= nest_.shape[loops[i]];
    }
    for (std::size_t i = 0; i < nest_.shape.size(); ++i)
      if (nest_.inner[i] || static_cast<int>(i) == nest_.lane) place.factor[i] = 0;
    return share;
  }

  // Writes where the row begins and ends inside the tensor. The rest of the row holds the value
  // outside.
  void WriteEnds() {
    if (!windows_.bound) return;
    const std::string start =
        fmt::format("(block * {} - {})", windows_.stride, -windows_.bound->form.offset);
    out_.Line(fmt::format("const std::int64_t from = {0} < 0 ? -{0} : 0;", start));
    out_.Line(fmt::format("const std::int64_t to = {1} - {0} < span ? {1} - {0} : span;", start,
                          windows_.bound->limit));
    out_.Line(fmt::format("FillOutside(row, from, to, span, {});",
                          Identity(folds_.FormOf(*windows_.step))));
  }

  void WriteDown() {
    constexpr int kDown = 4;  // number of adjacent vectors
    const std::string from = windows_.bound ? "from" : "0";
    const std::string to = windows_.bound ? "to" : "span";
    out_.Line(fmt::format("for (std::int64_t begin = {}; begin < {}; begin += {} * kLanes) {{",
                          from, to, kDown));
    out_.Line(
        fmt::format("ForColumns<{}>(begin, {}, [&](std::int64_t first, auto vectors, "
                    "[[maybe_unused]] auto lanes) INLINE {{",
                    kDown, to));
    out_.Line("constexpr int V = decltype(vectors)::value;");
    const FoldForm form = folds_.FormOf(*windows_.step);
    folds_.WriteDeclaration(form);
    std::vector<std::size_t> loops = InnerLoops(nest_);
    std::erase(loops, windows_.across);
    for (const std::size_t i : loops) OpenInner(context_, i, windows_.limits);
    const std::string value =
        fmt::format("LoadLanes({} + first + v * kLanes, lanes)", RowInMemory());
    out_.Line("for (int v = 0; v < V; ++v) {");
    for (const std::string& line : AddToFold(form, value, "")) out_.Line(line);
    CloseLoops(context_, loops.size() + 1);
    out_.Line(fmt::format(
        "for (int v = 0; v < V; ++v) StoreLanes(row + first + v * kLanes, {}[v], lanes);",
        form.name));
    out_.Line("});");
    out_.Line("}");
  }

  // Returns the address of the row's first element.
  [[nodiscard]] std::string RowInMemory() const {
    std::vector<std::string> loops = context_.loops;
    loops[static_cast<std::size_t>(nest_.lane)] = "block";
    AffineForm address = windows_.load->address;
    address.factor[windows_.across] = 0;
    const std::string index = FormText(address, loops);
    const std::string& name =
        context_.program.buffers[static_cast<std::size_t>(windows_.load->buffer)].name;
    return index == "0" ? name : name + " + " + index;
  }

  // Reduces the row along itself.
  void WriteAlong() {
    const Step& step = *windows_.step;
    folds_.Declare(step);
    OpenLoop(context_, windows_.across);
    OpenVectors(out_);
    for (const std::string& line : AddToFold(folds_.FormOf(step), InRow(), "")) out_.Line(line);
    CloseLoops(context_, 2);
    folds_.Finish(step);
  }

  // Returns an element of the row, for the window that begins at c.
  [[nodiscard]] std::string InRow() const {
    const std::string place = fmt::format("row + (c - block) * {} + {} * {}", windows_.stride,
                                          context_.loops[windows_.across], windows_.apart);
    if (windows_.stride == 1) return fmt::format("LoadLanes({}, lanes)", place);
    context_.needs.pieces.insert(VectorPiece::kStrided);
    return fmt::format("LoadStrided({}, {}, lanes)", place, windows_.stride);
  }

  NestContext& context_;
  const Nest& nest_;
  Writer& out_;
  const Windows& windows_;
  NestFolds folds_;
};

}  // namespace

std::optional<Windows> WindowsOf(NestContext& context) {
  const Nest& nest = context.nest;
  if (nest.lane < 0 || nest.LaneInside() || nest.phases[0].outer) return std::nullopt;
  for (std::size_t p = 1; p < nest.phases.size(); ++p)
    if (!nest.phases[p].outer) return std::nullopt;
  if (nest.phases[0].steps.size() != 1) return std::nullopt;
  Windows windows;
  windows.step = &nest.steps[nest.phases[0].steps[0]];
  if (windows.step->kind != Step::Kind::kFold || IsPosition(*windows.step)) return std::nullopt;
  if (windows.step->expr->op != ExprOp::kLoad) return std::nullopt;
  windows.load = &windows.step->expr->load;
  if (!windows.load->indirect.empty() || !FindAcross(nest, windows)) return std::nullopt;
  if (!FindBounds(context, windows)) return std::nullopt;
  return windows;
}

void WriteWindows(NestContext& context, const Windows& windows) {
  WindowWriter(context, windows).Write();
}

}  // namespace pragma::expert
