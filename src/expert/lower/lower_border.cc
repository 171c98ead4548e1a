// Operators that continue a tensor past its border, write into a part of it, or view its memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/lower/folds.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;

// A run of positions along one dimension: from `start` on, `count` of them, `step` apart (0: the
// same one again and again).
struct Run {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

Value Part(ProgramBuilder& builder, const Value& x, std::size_t dimension, const Run& run) {
  IndexMap map = IdentityMap(x.shape.size());
  map.index[dimension].factor[dimension] = run.step;
  map.index[dimension].offset = run.start;
  Shape shape = x.shape;
  shape[dimension] = run.count;
  return builder.Mapped(x, map, shape);
}

// Writes a tensor of which each dimension is several runs of x's, one behind the other: a step for
// each combination of runs.
class Joined final {
 public:
  Joined(ProgramBuilder& builder, const Value& x, std::vector<std::vector<Run>> runs)
      : builder_(builder), runs_(std::move(runs)) {
    for (const std::vector<Run>& along : runs_) {
      std::int64_t size = 0;
      for (const Run& run : along) size += run.count;
      shape_.push_back(size);
    }
    buffer_ = builder.NewBuffer(x.dtype, shape_);
    Store(x, 0, ContiguousForm(shape_));
  }
  [[nodiscard]] Value value() const { return builder_.Whole(buffer_); }

 private:
  void Store(const Value& part, std::size_t dimension, AffineForm place) {
    if (dimension == runs_.size())
      return builder_.StoreInto(builder_.Settled(part), buffer_, place);
    for (const Run& run : runs_[dimension]) {
      if (run.count == 0) continue;
      Store(Part(builder_, part, dimension, run), dimension + 1, place);
      place.offset += run.count * place.factor[dimension];
    }
  }

  ProgramBuilder& builder_;
  std::vector<std::vector<Run>> runs_;
  Shape shape_;
  int buffer_ = 0;
};

enum class Border : std::uint8_t { kReflected, kReplicated };

// A negative padding cuts elements off.
std::vector<Run> RunsOf(Border border, std::int64_t size, std::int64_t before, std::int64_t after) {
  const std::int64_t cut = std::max<std::int64_t>(0, -before);
  const Run middle{cut, 1, size - cut - std::max<std::int64_t>(0, -after)};
  const bool turned = border == Border::kReflected;
  const Run first{turned ? before : 0, turned ? -1 : 0, std::max<std::int64_t>(0, before)};
  const Run last{turned ? size - 2 : size - 1, turned ? -1 : 0, std::max<std::int64_t>(0, after)};
  return {first, middle, last};
}

// Sizes of padding come in pairs, for the last dimension first.
Lower Padded(Border border) {
  return [border](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Value x = builder.Settled(builder.ForReuse(node.Tensor(0)));
    const std::vector<std::int64_t> padding = node.Ints(1, "padding");
    std::vector<std::vector<Run>> runs;
    for (const std::int64_t size : x.shape) runs.push_back({{0, 1, size}});
    for (std::size_t i = 0; i < padding.size() / 2; ++i) {
      const std::size_t dimension = x.shape.size() - 1 - i;
      runs[dimension] = RunsOf(border, x.shape[dimension], padding[2 * i], padding[2 * i + 1]);
    }
    return std::vector{Joined(builder, x, std::move(runs)).value()};
  };
}

// Returns x with `part` in the place of the positions of a run.
Value WithPart(ProgramBuilder& builder, const Value& x, const Value& part, std::size_t dimension,
               const Run& run) {
  const int buffer = builder.NewBuffer(x.dtype, x.shape);
  const AffineForm whole = ContiguousForm(x.shape);
  const std::int64_t stride = whole.factor[dimension];
  const auto store = [&](const Value& value, const Run& at) {
    AffineForm place = whole;
    place.offset = at.start * stride;
    place.factor[dimension] = at.step * stride;
    const Value settled = builder.Settled(value);
    builder.StoreInto(
        {Cast(settled.expr, ComputeType(x.dtype)), settled.dims, settled.shape, x.dtype}, buffer,
        place);
  };
  const auto keep = [&](const Run& at) {
    if (at.count > 0) store(Part(builder, x, dimension, at), at);
  };
  const std::int64_t end = run.start + run.count * run.step;
  keep({0, 1, run.start});
  for (std::int64_t i = 1; i < run.step; ++i)  // what lies between two positions of the run
    keep({run.start + i, run.step,
          std::max<std::int64_t>(
              0, (std::min(end, x.shape[dimension]) - run.start - i + run.step - 1) / run.step)});
  if (run.count > 0) store(part, run);
  keep({end, 1, x.shape[dimension] - end});
  return builder.Whole(buffer);
}

Values LowerSliceScatter(ProgramBuilder& builder, const NodeView& node) {
  const Value x = builder.Settled(node.Tensor(0));
  const Value part = node.Tensor(1);
  const std::size_t dimension = node.Dimension(2, "dim", x.shape.size());
  const std::int64_t size = x.shape[dimension];
  std::int64_t start = node.Int(3, "start", 0);
  if (start < 0) start += size;
  const Run run{std::clamp<std::int64_t>(start, 0, size), node.Int(5, "step", 1),
                part.shape[dimension]};
  return std::vector{WithPart(builder, x, part, dimension, run)};
}

Values LowerSelectScatter(ProgramBuilder& builder, const NodeView& node) {
  const Value x = builder.Settled(node.Tensor(0));
  const std::size_t dimension = node.Dimension(2, "dim", x.shape.size());
  std::int64_t index = node.Int(3, "index", 0);
  if (index < 0) index += x.shape[dimension];
  Shape shape = x.shape;
  shape[dimension] = 1;
  const Value part = builder.Settled(builder.Reshaped(node.Tensor(1), shape));
  return std::vector{WithPart(builder, x, part, dimension, {index, 1, 1})};
}

// A view of memory by strides. The tensor must be in memory as it is: Torch ignores its own
// strides.
Values LowerAsStrided(ProgramBuilder& builder, const NodeView& node) {
  const Value given = node.Tensor(0);
  const bool viewed =
      given.expr->op == ExprOp::kLoad && given.expr->load.address != ContiguousForm(given.dims);
  if (viewed) return Unsupported(node, "of a view");
  const Value x = builder.Stored(given);
  const std::vector<std::int64_t> strides = node.Ints(2, "stride");
  const std::int64_t offset = node.Int(3, "storage_offset", 0);
  if (node.shape().size() != strides.size()) return Unsupported(node, "of unknown strides");
  std::int64_t last = offset;
  for (std::size_t i = 0; i < strides.size(); ++i) last += (node.shape()[i] - 1) * strides[i];
  if (last >= Elements(x.shape)) return Unsupported(node, "past the end of the tensor");
  const Load& load = x.expr->load;
  return std::vector{Value{LoadOf(load.buffer, {strides, offset}, x.expr->type), node.shape(),
                           node.shape(), x.dtype}};
}

// copy(x, y): y in x's shape and type.
Values LowerCopyOver(ProgramBuilder& builder, const NodeView& node) {
  const Value y = builder.Expanded(node.Tensor(1), node.shape());
  return std::vector{AsType(builder, y, node.dtype())};
}

Values LowerFillOver(ProgramBuilder& builder, const NodeView& node) {
  const Value number = node.Operand(1);
  return std::vector{builder.Expanded(AsType(builder, number, node.dtype()), node.shape())};
}

}  // namespace

const LowerTable& BorderOperators() {
  static const LowerTable kTable{{"reflection_pad1d", Padded(Border::kReflected)},
                                 {"reflection_pad2d", Padded(Border::kReflected)},
                                 {"reflection_pad3d", Padded(Border::kReflected)},
                                 {"replication_pad1d", Padded(Border::kReplicated)},
                                 {"replication_pad2d", Padded(Border::kReplicated)},
                                 {"replication_pad3d", Padded(Border::kReplicated)},
                                 {"slice_scatter", LowerSliceScatter},
                                 {"select_scatter", LowerSelectScatter},
                                 {"as_strided", LowerAsStrided},
                                 {"as_strided_copy", LowerAsStrided},
                                 {"copy", LowerCopyOver},
                                 {"fill", LowerFillOver}};
  return kTable;
}

}  // namespace pragma::expert
