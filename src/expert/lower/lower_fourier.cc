// Discrete Fourier transforms. A complex tensor is one of pairs of real numbers here: a further
// last dimension of size 2 has the real and the imaginary part.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/fourier.h"
#include "expert/ir/program.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;

Values LowerPairs(ProgramBuilder&, const NodeView& node) {
  Value pairs = node.Tensor(0);
  pairs.complex = true;
  return std::vector{pairs};
}

Values LowerParts(ProgramBuilder&, const NodeView& node) {
  Value parts = node.Tensor(0);
  parts.complex = false;
  return std::vector{parts};
}

// One transform along a dimension.
struct Along {
  std::size_t dimension = 0;
  std::int64_t points = 1;
  std::int64_t kept = 1;  // of the result
  bool real_input = false;
  bool real_output = false;
  bool forward = true;
  double scale = 1;
};

Value Transformed(ProgramBuilder& builder, const Value& given, const Along& along) {
  const Value x = builder.Stored(given);
  Routine routine{.kind = Routine::Kind::kFourier,
                  .operands = {x.expr->load.buffer},
                  .length = along.points,
                  .kept = along.kept,
                  .real_input = along.real_input,
                  .real_output = along.real_output,
                  .forward = along.forward,
                  .scale = along.scale};
  const std::size_t rank = x.shape.size() - (along.real_input ? 0 : 1);
  for (std::size_t i = 0; i < rank; ++i)
    if (i != along.dimension) (i < along.dimension ? routine.outer : routine.inner) *= x.shape[i];
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(rank));
  shape[along.dimension] = along.kept;
  if (!along.real_output) shape.push_back(2);
  Value result = builder.WithRoutine(std::move(routine), x.dtype, shape);
  result.complex = !along.real_output;
  return result;
}

// The dimensions of a transform, the number of points along each, and what divides the sums.
struct Transform {
  std::vector<std::size_t> dimensions;
  std::vector<std::int64_t> points;
  double scale = 1;
};

// `last` is the number of points along the last dimension of the list, if not that of the operand.
Transform TransformOf(const NodeView& node, std::size_t rank,
                      std::optional<std::int64_t> last = std::nullopt) {
  const Value x = node.Tensor(0);
  Transform transform;
  for (const std::int64_t dimension : node.Ints(1, "dim")) {
    transform.dimensions.push_back(
        static_cast<std::size_t>((dimension + static_cast<std::int64_t>(rank))) % rank);
    transform.points.push_back(x.shape[transform.dimensions.back()]);
  }
  if (last && !transform.points.empty()) transform.points.back() = *last;
  double all = 1;
  for (const std::int64_t points : transform.points) all *= static_cast<double>(points);
  // 0: sums; 1: divided by the root of the number of points; 2: divided by that number.
  const std::int64_t mode = node.Int(2, "normalization", 0);
  transform.scale = mode == 0 ? 1 : mode == 1 ? 1 / std::sqrt(all) : 1 / all;
  return transform;
}

bool IsWritten(const Transform& transform, const Value& x) {
  for (const std::int64_t points : transform.points)
    if (!MayBeTransformed(points)) return false;
  const bool is_float = x.dtype == DType::kFloat32 || x.dtype == DType::kFloat64;
  return is_float && !transform.dimensions.empty();
}

// Transforms pairs along all dimensions but the last `left` of the list.
Value AlongOthers(ProgramBuilder& builder, Value x, const Transform& transform, std::size_t left,
                  bool forward, double scale) {
  for (std::size_t i = 0; i + left < transform.dimensions.size(); ++i) {
    const std::int64_t points = transform.points[i];
    x = Transformed(builder, x,
                    {.dimension = transform.dimensions[i],
                     .points = points,
                     .kept = points,
                     .forward = forward,
                     .scale = i == 0 ? scale : 1});
  }
  return x;
}

Values LowerComplex(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const Transform transform = TransformOf(node, x.shape.size() - 1);
  if (!IsWritten(transform, x)) return Unsupported(node, "of these lengths or types");
  return std::vector{
      AlongOthers(builder, x, transform, 0, node.Flag(3, "forward", true), transform.scale)};
}

Values LowerFromReal(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const Transform transform = TransformOf(node, x.shape.size());
  if (!IsWritten(transform, x)) return Unsupported(node, "of these lengths or types");
  const std::int64_t points = transform.points.back();
  const bool half = node.Flag(3, "onesided", true);
  const Value last = Transformed(builder, x,
                                 {.dimension = transform.dimensions.back(),
                                  .points = points,
                                  .kept = half ? points / 2 + 1 : points,
                                  .real_input = true,
                                  .scale = transform.scale});
  return std::vector{AlongOthers(builder, last, transform, 1, true, 1)};
}

Values LowerToReal(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::int64_t points = node.Int(3, "last_dim_size", 1);
  const Transform transform = TransformOf(node, x.shape.size() - 1, points);
  if (!IsWritten(transform, x)) return Unsupported(node, "of these lengths or types");
  const Value others = AlongOthers(builder, x, transform, 1, false, 1);
  return std::vector{Transformed(builder, others,
                                 {.dimension = transform.dimensions.back(),
                                  .points = points,
                                  .kept = points,
                                  .real_output = true,
                                  .forward = false,
                                  .scale = transform.scale})};
}

}  // namespace

const LowerTable& FourierOperators() {
  static const LowerTable kTable{{"view_as_complex", LowerPairs},
                                 {"view_as_real", LowerParts},
                                 {"_fft_c2c", LowerComplex},
                                 {"_fft_r2c", LowerFromReal},
                                 {"_fft_c2r", LowerToReal}};
  return kTable;
}

}  // namespace pragma::expert
