// What masks over row and column numbers say about a matrix: diag, tril, triu, and whatever else a
// module writes that comes to the same. A product with such a factor has terms that are zero by
// construction, and such a result has parts that nobody needs.
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
  kUpperOutput,  // triu(a * b): what lies below the diagonal is never computed
  kLowerOutput,  // tril(a * b)
  kDiagonalA,    // a holds the diagonal of a square matrix (steps: first)
  kDiagonalB,    // likewise b (steps: second)
};

// The diagonal's value where an expression is zero off the diagonal of these two dimensions.
[[nodiscard]] ExprPtr OnDiagonal(const ExprPtr& expr, std::size_t row, std::size_t column);

// kUpperOutput or kLowerOutput where an expression does not depend on `buffer` on one side of a
// diagonal of these two dimensions: there, what is in the buffer need not be computed.
struct Triangle {
  MatmulStructure structure = MatmulStructure::kNone;
  std::int64_t diagonal = 0;  // of triu and tril
};
[[nodiscard]] std::optional<Triangle> TriangleOf(const ExprPtr& expr, int buffer, std::size_t row,
                                                 std::size_t column);

// Where masks over these two dimensions leave anything but zeros: triangles, bands.
[[nodiscard]] Diagonals NonzeroOf(const ExprPtr& expr, std::size_t row, std::size_t column);

}  // namespace pragma::expert
