// Finds what masks over row and column numbers say about a matrix: diag, tril, triu, and any other
// expression with the same effect. A product with such a factor has terms that are zero by
// construction, and such a result has parts that are not needed.
#pragma once

#include <cstddef>
#include <optional>

#include "expert/affine.h"
#include "expert/diagonals.h"
#include "expert/expression.h"
#include "expert/matmul_kernel.h"

namespace pragma {

// Returns the value on the diagonal, where an expression is zero off the diagonal of these two
// dimensions.
[[nodiscard]] ExprPtr OnDiagonal(const ExprPtr& expr, std::size_t row, std::size_t column);

// kUpperOutput or kLowerOutput, where an expression does not depend on `buffer` on one side of a
// diagonal of these two dimensions. On that side the contents of the buffer need not be computed.
struct Triangle {
  MatmulStructure structure = MatmulStructure::kNone;
  std::int64_t diagonal = 0;  // the diagonal of triu and tril
};
[[nodiscard]] std::optional<Triangle> TriangleOf(const ExprPtr& expr, int buffer, std::size_t row,
                                                 std::size_t column);

// Returns the band in which masks over these two dimensions leave nonzero elements: triangles or
// bands.
[[nodiscard]] Diagonals NonzeroOf(const ExprPtr& expr, std::size_t row, std::size_t column);

}  // namespace pragma
