// Finds what masks over row and column numbers say about a matrix: diag, tril, triu, and any other
// expression with the same effect. A product with such a factor has terms that are zero by
// construction, and such a result has parts that are not needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "expert/ir/affine.h"
#include "expert/ir/diagonals.h"
#include "expert/ir/expression.h"

namespace pragma::expert {

// Parts of a matrix product that need no computation.
enum class MatmulStructure : std::uint8_t {
  kNone,
  kUpperOutput,  // triu(a * b): elements below the diagonal are never computed
  kLowerOutput,  // tril(a * b): elements above the diagonal are never computed
  kDiagonalA,    // a holds the diagonal of a square matrix (stride: first)
  kDiagonalB,    // b holds the diagonal of a square matrix (stride: second)
};

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

}  // namespace pragma::expert
