// NestSpread: computes a sum, and the sum of squared distances from a center derived from it, in
// one pass over memory. Each part of the values is summed. It is then read again, while the core's
// cache still holds it, for the distances from the part's own mean. The parts are combined in
// double precision. This is as accurate as two passes over all values, because no number that is
// far from its part's mean is squared.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_parts.h"
#include "expert/cpp/writer.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"

namespace pragma::expert {

class NestSpread : public NestParts {
 protected:
  using NestParts::NestParts;
  ~NestSpread() = default;

  [[nodiscard]] bool SpreadCutsLane() const {
    for (std::size_t p = 0; p < nest_.phases.size(); ++p)
      if (SpreadAt(nest_, p)) return static_cast<int>(PartOf().dimension) == nest_.lane;
    return false;
  }

  void WriteSpread(const Phase& phase, const Spread& spread) {
    const Step& sum = nest_.steps[spread.sum];
    const std::string total = values_.NewName(sum.name);
    const std::string squares = values_.NewName(sum.name + "_squares");
    out_.Line(fmt::format("double {} = 0.0, {} = 0.0;", total, squares));
    const Part part = PartOf();
    const std::size_t open = OpenPart(part);
    names_[sum.buffer] = values_.NewName(sum.name + "_part");
    for (const std::string& line : DeclareFold(FormOf(sum))) out_.Line(line);
    WritePartPass(part, [&](Writer& body) {
      CountUses(phase);
      for (const std::size_t s : phase.steps) WriteInside(nest_.steps[s], body);
    });
    for (const std::size_t s : phase.steps) values_.Forget(nest_.steps[s].buffer);
    WriteDistances(part, spread, total, squares);
    Close(open);
    FinishTotal(sum, total);
    FinishSpread(spread, total, squares);
  }

 private:
  static constexpr std::int64_t kPartElements = 4096;  // fits in the L1 cache with ease

  // A number of steps of one inner dimension, with everything inside it.
  struct Part {
    std::size_t dimension = 0;
    std::int64_t inside = 1;  // number of elements in one step
  };

  // Returns the inner dimensions in the order of their loops. The dimension of the lanes is last.
  [[nodiscard]] std::vector<std::size_t> InnerOrder() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i)
      if (nest_.inner[i] && static_cast<int>(i) != nest_.lane) order.push_back(i);
    order.push_back(static_cast<std::size_t>(nest_.lane));
    return order;
  }

  [[nodiscard]] Part PartOf() const {
    Part part{.dimension = 0, .inside = nest_.InnerCount()};
    for (const std::size_t i : InnerOrder()) {
      part.dimension = i;
      part.inside /= nest_.shape[i];
      if (part.inside <= kPartElements) break;
    }
    return part;
  }

  std::size_t OpenPart(const Part& part) {
    std::size_t open = 1;
    for (const std::size_t i : InnerOrder()) {
      if (i == part.dimension) break;
      Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
      ++open;
    }
    const std::int64_t size = nest_.shape[part.dimension];
    const std::string step = static_cast<int>(part.dimension) == nest_.lane
                                 ? block_
                                 : std::to_string(kPartElements / part.inside);
    out_.Line(fmt::format("for (std::int64_t begin = 0; begin < {}; begin += {}) {{", size, step));
    out_.Line(
        fmt::format("const std::int64_t end = begin + {0} < {1} ? begin + {0} : {1};", step, size));
    return open;
  }

  template <class WriteBody>
  void WritePartPass(const Part& part, const WriteBody& write) {
    std::vector<std::size_t> loops;
    bool inside = false;
    for (const std::size_t i : InnerOrder()) {
      inside = inside || i == part.dimension;
      if (inside && static_cast<int>(i) != nest_.lane) loops.push_back(i);
    }
    const auto from = [&](std::size_t i) { return i == part.dimension ? "begin" : "0"; };
    const auto to = [&](std::size_t i) {
      return i == part.dimension ? "end" : std::to_string(nest_.shape[i]);
    };
    Writer body(out_.depth() + static_cast<int>(loops.size()) + 1);
    values_.BeginPass(&body, &body);
    write(body);
    for (const std::size_t i : loops) Loop(loops_[i], from(i), to(i));
    const auto lane = static_cast<std::size_t>(nest_.lane);
    out_.Line(fmt::format(
        "ForLanes<{}>({}, {}, [&](std::int64_t e, int u, [[maybe_unused]] auto lanes) INLINE {{",
        chains_, from(lane), to(lane)));
    out_.Append(body);
    out_.Line("});");
    Close(loops.size());
  }

  // Writes the sum of squared distances of a part. `rest` is the part of the sum that is lost
  // because the part's mean is rounded.
  void WriteDistances(const Part& part, const Spread& spread, const std::string& total,
                      const std::string& squares) {
    const FoldForm sum = FormOf(nest_.steps[spread.sum]);
    FoldForm rest = sum;
    rest.name = values_.NewName("rest");
    FoldForm square = sum;
    square.name = values_.NewName("spread");
    const std::string count = values_.NewName("count");
    const std::string mean = values_.NewName("part_mean");
    needs_.pieces.insert(VectorPiece::kLanes);
    out_.Line(fmt::format("const double {} = static_cast<double>(end - begin) * {};", count,
                          part.inside));
    out_.Line(
        fmt::format("const float {} = static_cast<float>({} / {});", mean, FoldResult(sum), count));
    for (const FoldForm& form : {rest, square})
      for (const std::string& line : DeclareFold(form)) out_.Line(line);
    WritePartPass(part, [&](Writer& body) {
      values_.CountUses(spread.value);
      const std::string distance = values_.NewName("distance");
      body.Line(fmt::format("const Vec {} = KeepLanes({} - {}, lanes, 0.0f);", distance,
                            values_.AsVector(values_.Write(spread.value)), mean));
      body.Line(fmt::format("{}[u] += {};", rest.name, distance));
      body.Line(fmt::format("{0}[u] += {1} * {1};", square.name, distance));
      AskForNextPart(part, body);
    });
    const std::string left = values_.NewName("left");
    out_.Line(fmt::format("const double {} = {};", left, FoldResult(rest)));
    out_.Line(fmt::format("{} += {} * {} + {};", total, count, mean, left));
    out_.Line(fmt::format("{} += {} + (2 * {} + {} * {}) * {};", squares, FoldResult(square), left,
                          count, mean, mean));
  }

  // Prefetches the next part, since the distances are computed on values that are in the cache.
  void AskForNextPart(const Part& part, Writer& body) {
    for (std::size_t p = 0; p < nest_.phases.size(); ++p) {
      if (!SpreadAt(nest_, p)) continue;
      for (const Load* load : AheadOf(nest_.phases[p])) {
        AffineForm address = load->address;
        const bool lane = static_cast<int>(part.dimension) == nest_.lane;
        if (!lane)
          address.offset += kPartElements / part.inside * load->address.factor[part.dimension];
        AskFor(body, load->buffer, address, lane ? " + " + block_ : "");
      }
      return;
    }
  }

  // Writes the sum of (value - center)^2, from the sums of the values and of their squares.
  void FinishSpread(const Spread& spread, const std::string& total, const std::string& squares) {
    const Step& fold = nest_.steps[spread.fold];
    values_.BeginPass(&out_, &out_);
    const std::string center = values_.NewName("center");
    out_.Line(fmt::format("const double {} = {};", center, values_.Write(spread.center).code));
    const std::string around = values_.NewName(fold.name);
    out_.Line(fmt::format("const double {0} = {1} - {2} * (2 * {3} - {2} * {4});", around, squares,
                          center, total, nest_.InnerCount()));
    FinishTotal(fold, fmt::format("({0} < 0 ? 0 : {0})", around));
  }
};

}  // namespace pragma::expert
