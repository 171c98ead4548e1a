#include "expert/cpp/nest_spread.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_ahead.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kPartElements = 4096;  // fits in the L1 cache with ease

// A number of steps of one inner dimension, with everything inside it.
struct Part {
  std::size_t dimension = 0;
  std::int64_t inside = 1;  // number of elements in one step
  bool cuts_lane = false;
};

// Returns the inner dimensions in the order of their loops. The dimension of the lanes is last.
std::vector<std::size_t> InnerOrder(const Nest& nest) {
  std::vector<std::size_t> order = InnerLoops(nest);
  order.push_back(static_cast<std::size_t>(nest.lane));
  return order;
}

Part PartOf(const Nest& nest) {
  Part part{.dimension = 0, .inside = nest.InnerCount()};
  for (const std::size_t i : InnerOrder(nest)) {
    part.dimension = i;
    part.inside /= nest.shape[i];
    if (part.inside <= kPartElements) break;
  }
  part.cuts_lane = static_cast<int>(part.dimension) == nest.lane;
  return part;
}

class SpreadWriter final {
 public:
  SpreadWriter(NestContext& context, NestFolds& folds, const Spread& spread)
      : context_(context),
        nest_(context.nest),
        values_(context.values),
        out_(context.out),
        folds_(folds),
        spread_(spread),
        part_(PartOf(nest_)) {}

  void Write(const Phase& phase) {
    const Step& sum = nest_.steps[spread_.sum];
    total_ = values_.NewName(sum.name);
    squares_ = values_.NewName(sum.name + "_squares");
    out_.Line(fmt::format("double {} = 0.0, {} = 0.0;", total_, squares_));
    const std::size_t open = OpenPart();
    folds_.Name(sum, "_part");
    folds_.WriteDeclaration(folds_.FormOf(sum));
    WritePass([&](Writer& body) {
      CountUses(context_, phase);
      for (const std::size_t s : phase.steps) folds_.WriteInside(nest_.steps[s], body);
    });
    Forget(context_, phase);
    WriteDistances();
    CloseLoops(context_, open);
    folds_.FinishTotal(sum, total_);
    WriteAroundCenter();
  }

 private:
  std::size_t OpenPart() {
    std::size_t open = 1;
    for (const std::size_t i : InnerOrder(nest_)) {
      if (i == part_.dimension) break;
      OpenLoop(context_, i);
      ++open;
    }
    const std::int64_t size = nest_.shape[part_.dimension];
    const std::string step =
        part_.cuts_lane ? context_.numbers.block : std::to_string(kPartElements / part_.inside);
    out_.Line(fmt::format("for (std::int64_t begin = 0; begin < {}; begin += {}) {{", size, step));
    out_.Line(
        fmt::format("const std::int64_t end = begin + {0} < {1} ? begin + {0} : {1};", step, size));
    return open;
  }

  template <class WriteBody>
  void WritePass(const WriteBody& write) {
    std::vector<std::size_t> loops;
    bool inside = false;
    for (const std::size_t i : InnerOrder(nest_)) {
      inside = inside || i == part_.dimension;
      if (inside && static_cast<int>(i) != nest_.lane) loops.push_back(i);
    }
    const auto from = [&](std::size_t i) { return i == part_.dimension ? "begin" : "0"; };
    const auto to = [&](std::size_t i) {
      return i == part_.dimension ? "end" : std::to_string(nest_.shape[i]);
    };
    Writer body(out_.depth() + static_cast<int>(loops.size()) + 1);
    values_.BeginPass(&body, &body);
    write(body);
    for (const std::size_t i : loops) OpenLoop(context_, i, from(i), to(i));
    const auto lane = static_cast<std::size_t>(nest_.lane);
    OpenLanes(context_, context_.numbers.chains, from(lane), to(lane), "int u");
    out_.Append(body);
    out_.Line("});");
    CloseLoops(context_, loops.size());
  }

  // Writes the sum of squared distances of a part. `rest` is the part of the sum that is lost
  // because the part's mean is rounded.
  void WriteDistances() {
    const FoldForm sum = folds_.FormOf(nest_.steps[spread_.sum]);
    FoldForm rest = sum;
    rest.name = values_.NewName("rest");
    FoldForm square = sum;
    square.name = values_.NewName("spread");
    const std::string count = values_.NewName("count");
    const std::string mean = values_.NewName("part_mean");
    context_.needs.pieces.insert(VectorPiece::kLanes);
    out_.Line(fmt::format("const double {} = static_cast<double>(end - begin) * {};", count,
                          part_.inside));
    out_.Line(
        fmt::format("const float {} = static_cast<float>({} / {});", mean, FoldResult(sum), count));
    for (const FoldForm& form : {rest, square}) folds_.WriteDeclaration(form);
    WritePass([&](Writer& body) {
      values_.CountUses(spread_.value);
      const std::string distance = values_.NewName("distance");
      body.Line(fmt::format("const Vec {} = KeepLanes({} - {}, lanes, 0.0f);", distance,
                            values_.AsVector(values_.Write(spread_.value)), mean));
      body.Line(fmt::format("{}[u] += {};", rest.name, distance));
      body.Line(fmt::format("{0}[u] += {1} * {1};", square.name, distance));
      AskForNextPart(body);
    });
    const std::string left = values_.NewName("left");
    out_.Line(fmt::format("const double {} = {};", left, FoldResult(rest)));
    out_.Line(fmt::format("{} += {} * {} + {};", total_, count, mean, left));
    out_.Line(fmt::format("{} += {} + (2 * {} + {} * {}) * {};", squares_, FoldResult(square), left,
                          count, mean, mean));
  }

  // Prefetches the next part, since the distances are computed on values that are in the cache.
  void AskForNextPart(Writer& body) {
    for (std::size_t p = 0; p < nest_.phases.size(); ++p) {
      if (!SpreadAt(nest_, p)) continue;
      for (const Load* load : AheadOf(context_, nest_.phases[p])) {
        AffineForm address = load->address;
        if (!part_.cuts_lane)
          address.offset += kPartElements / part_.inside * load->address.factor[part_.dimension];
        AskFor(context_, body, load->buffer, address,
               part_.cuts_lane ? " + " + context_.numbers.block : "");
      }
      return;
    }
  }

  // Writes the sum of (value - center)^2, from the sums of the values and of their squares.
  void WriteAroundCenter() {
    const Step& fold = nest_.steps[spread_.fold];
    values_.BeginPass(&out_, &out_);
    const std::string center = values_.NewName("center");
    out_.Line(fmt::format("const double {} = {};", center, values_.Write(spread_.center).code));
    const std::string around = values_.NewName(fold.name);
    out_.Line(fmt::format("const double {0} = {1} - {2} * (2 * {3} - {2} * {4});", around, squares_,
                          center, total_, nest_.InnerCount()));
    folds_.FinishTotal(fold, fmt::format("({0} < 0 ? 0 : {0})", around));
  }

  NestContext& context_;
  const Nest& nest_;
  ExpressionWriter& values_;
  Writer& out_;
  NestFolds& folds_;
  const Spread& spread_;
  Part part_;
  std::string total_;  // names of the sums over all parts
  std::string squares_;
};

}  // namespace

bool SpreadCutsLane(const Nest& nest) {
  for (std::size_t p = 0; p < nest.phases.size(); ++p)
    if (SpreadAt(nest, p)) return PartOf(nest).cuts_lane;
  return false;
}

void WriteSpread(NestContext& context, NestFolds& folds, const Phase& phase, const Spread& spread) {
  SpreadWriter(context, folds, spread).Write(phase);
}

}  // namespace pragma::expert
