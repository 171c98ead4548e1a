// Linear algebra on many small matrices: inverses, determinants, Cholesky factors, systems.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;

constexpr std::int64_t kLargestOrder = 64;  // above that, blocks that fit the caches would matter

// Stands for factors, pivots and error codes, whose use is refused.
const Value kNotComputed{};

bool IsSmall(const Value& matrix) {
  const std::size_t rank = matrix.shape.size();
  const bool is_float = matrix.dtype == DType::kFloat32 || matrix.dtype == DType::kFloat64;
  return is_float && rank >= 2 && matrix.shape[rank - 1] == matrix.shape[rank - 2] &&
         matrix.shape[rank - 1] <= kLargestOrder;
}

// What is done with each matrix.
struct Work {
  Routine::Matrix what = Routine::Matrix::kInverse;
  bool upper = false;
  bool unit = false;
};

Value Done(ProgramBuilder& builder, const Work& work, const std::vector<Value>& operands,
           const Shape& shape) {
  Routine routine{.kind = Routine::Kind::kMatrices,
                  .length = operands[0].shape.back(),
                  .kept = operands.back().shape.back(),
                  .matrix = work.what,
                  .upper = work.upper,
                  .unit = work.unit};
  routine.outer = Elements(operands[0].shape) / (routine.length * routine.length);
  for (const Value& operand : operands)
    routine.operands.push_back(builder.Stored(operand).expr->load.buffer);
  return builder.WithRoutine(std::move(routine), operands[0].dtype, shape);
}

// A system of equations. Batches of both operands broadcast.
Value Solved(ProgramBuilder& builder, const Work& work, const Value& matrix, const Value& sides) {
  const auto batch = [](const Value& value) {
    return Shape(value.shape.begin(), value.shape.end() - 2);
  };
  const Shape shape = BroadcastShapes(batch(matrix), batch(sides)).value_or(batch(matrix));
  const auto wide = [&](const Value& value) {
    Shape whole = shape;
    whole.insert(whole.end(), value.shape.end() - 2, value.shape.end());
    return builder.Expanded(value, whole);
  };
  const Value b = wide(sides);
  return Done(builder, work, {wide(matrix), b}, b.shape);
}

Values LowerInverse(ProgramBuilder& builder, const NodeView& node) {
  const Value a = builder.Settled(node.Tensor(0));
  if (!IsSmall(a)) return Unsupported(node, "of large matrices, or of their type");
  return std::vector{Done(builder, {.what = Routine::Matrix::kInverse}, {a}, a.shape),
                     kNotComputed};
}

// The results of the first operator are the determinant and factors, those of the second the sign,
// the logarithm of the size and factors.
Lower Determinant(bool with_logarithm) {
  return [with_logarithm](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Value a = builder.Settled(node.Tensor(0));
    if (!IsSmall(a)) return Unsupported(node, "of large matrices, or of their type");
    Shape shape = node.shape();
    shape.push_back(3);
    const Value found = Done(builder, {.what = Routine::Matrix::kDeterminant}, {a}, shape);
    std::vector<Value> results(node.node().results.size(), kNotComputed);
    const std::size_t last = shape.size() - 1;
    results[0] = Picked(builder, found, last, with_logarithm ? 0 : 2);
    if (with_logarithm) results[1] = Picked(builder, found, last, 1);
    return results;
  };
}

// The factor is below the diagonal, or above it: then it is that of the turned matrix, turned.
Values LowerCholesky(ProgramBuilder& builder, const NodeView& node) {
  const Value a = builder.Settled(node.Tensor(0));
  if (!IsSmall(a)) return Unsupported(node, "of large matrices, or of their type");
  const bool upper = node.Flag(1, "upper", false);
  const Value given = upper ? Transposed(builder, a) : a;
  const Value factor = Done(builder, {.what = Routine::Matrix::kCholesky}, {given}, a.shape);
  return std::vector{upper ? Transposed(builder, factor) : factor, kNotComputed};
}

// X A = B is the turned A' X' = B'.
Value SolvedFrom(ProgramBuilder& builder, Work work, const Value& a, const Value& b, bool left) {
  if (left) return Solved(builder, work, a, b);
  work.upper = !work.upper;
  return Transposed(builder, Solved(builder, work, Transposed(builder, a), Transposed(builder, b)));
}

Values LowerSolve(ProgramBuilder& builder, const NodeView& node) {
  const Value a = builder.Settled(node.Tensor(0));
  const Value given = builder.Settled(node.Tensor(1));
  if (!IsSmall(a) || a.dtype != given.dtype)
    return Unsupported(node, "of large matrices, or of their type");
  // As torch.linalg.solve has it, a right side is a batch of vectors where its shape is that of the
  // matrices' rows.
  const Shape rows(a.shape.begin(), a.shape.end() - 1);
  const bool vectors = given.shape.size() == 1 || given.shape == rows;
  Shape columns = given.shape;
  columns.push_back(1);
  const Value b = vectors ? builder.Settled(builder.Reshaped(given, columns)) : given;
  const Value x = SolvedFrom(builder, {.what = Routine::Matrix::kSolve}, a, b,
                             vectors || node.Flag(2, "left", true));
  std::vector<Value> results(std::max<std::size_t>(1, node.node().results.size()), kNotComputed);
  results[0] = builder.Reshaped(x, node.shape());
  return results;
}

Values LowerSolveTriangle(ProgramBuilder& builder, const NodeView& node) {
  const Value a = builder.Settled(node.Tensor(0));
  const Value b = builder.Settled(node.Tensor(1));
  if (!IsSmall(a) || a.dtype != b.dtype)
    return Unsupported(node, "of large matrices, or of their type");
  const Work work{.what = Routine::Matrix::kTriangle,
                  .upper = node.Flag(2, "upper", true),
                  .unit = node.Flag(4, "unitriangular", false)};
  return std::vector{SolvedFrom(builder, work, a, b, node.Flag(3, "left", true))};
}

// The older operator takes the right side first, and may turn the matrix.
Values LowerTriangularSolve(ProgramBuilder& builder, const NodeView& node) {
  const Value b = builder.Settled(node.Tensor(0));
  const Value a = builder.Settled(node.Tensor(1));
  if (!IsSmall(a) || a.dtype != b.dtype)
    return Unsupported(node, "of large matrices, or of their type");
  const bool turned = node.Flag(3, "transpose", false);
  const Work work{.what = Routine::Matrix::kTriangle,
                  .upper = node.Flag(2, "upper", true) != turned,
                  .unit = node.Flag(4, "unitriangular", false)};
  return std::vector{Solved(builder, work, turned ? Transposed(builder, a) : a, b), kNotComputed};
}

// Solves (L L') X = B with the factor of Cholesky.
Values LowerCholeskySolve(ProgramBuilder& builder, const NodeView& node) {
  const Value b = builder.Settled(node.Tensor(0));
  const Value given = builder.Settled(node.Tensor(1));
  if (!IsSmall(given) || given.dtype != b.dtype)
    return Unsupported(node, "of large matrices, or of their type");
  const Value lower = node.Flag(2, "upper", false) ? Transposed(builder, given) : given;
  Work work{.what = Routine::Matrix::kTriangle};
  const Value half = Solved(builder, work, lower, b);
  work.upper = true;
  return std::vector{Solved(builder, work, Transposed(builder, lower), half)};
}

}  // namespace

const LowerTable& MatrixOperators() {
  static const LowerTable kTable{{"linalg_inv", LowerInverse},
                                 {"linalg_inv_ex", LowerInverse},
                                 {"linalg_det", Determinant(false)},
                                 {"linalg_slogdet", Determinant(true)},
                                 {"linalg_solve", LowerSolve},
                                 {"_linalg_det", Determinant(false)},
                                 {"_linalg_slogdet", Determinant(true)},
                                 {"linalg_cholesky_ex", LowerCholesky},
                                 {"linalg_cholesky", LowerCholesky},
                                 {"cholesky", LowerCholesky},
                                 {"_linalg_solve_ex", LowerSolve},
                                 {"linalg_solve_triangular", LowerSolveTriangle},
                                 {"triangular_solve", LowerTriangularSolve},
                                 {"cholesky_solve", LowerCholeskySolve}};
  return kTable;
}

}  // namespace pragma::expert
