// Contractions: sums of products of two tensors, such as matrix products and convolutions. Each
// dimension belongs to both operands, to one, or is summed over; so all of them are products of
// matrices, whose elements lie where the operands' forms say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"

namespace pragma::expert::triton {

struct Contraction {
  ExprPtr left;   // over batch, rows, depth
  ExprPtr right;  // over batch, depth, columns
  std::vector<std::size_t> batch;
  std::vector<std::size_t> rows;
  std::vector<std::size_t> columns;  // the dimension in which results are contiguous, if any is
  std::vector<std::size_t> depth;
};

// None where it is another fold, or too small for tensor cores.
[[nodiscard]] std::optional<Contraction> ContractionOf(const Step& step);
// A product of which masks make parts zero.
[[nodiscard]] bool HasBand(const Step& step);

}  // namespace pragma::expert::triton
