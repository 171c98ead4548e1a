// Contractions: sums of products of two tensors, such as matrix products and convolutions. Each
// dimension belongs to both operands, to one operand, or is summed over. So every contraction is a
// product of matrices, whose elements are located where the operands' forms say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

struct Contraction {
  ExprPtr left;   // over batch, rows, depth
  ExprPtr right;  // over batch, depth, columns
  std::vector<std::size_t> batch;
  std::vector<std::size_t> rows;
  std::vector<std::size_t> columns;  // the dimension in which results are contiguous, if there is
                                     // one
  std::vector<std::size_t> depth;
  // Where fp32 operands are stored in two parts, what `left` and `right` leave when rounded to
  // TF32. Otherwise null.
  ExprPtr left_rest;
  ExprPtr right_rest;
};

// Returns the product of two operands in two parts, without the product of both rests.
// ContractionOf finds the parts again.
[[nodiscard]] ExprPtr ProductOfParts(const ExprPtr& left, const ExprPtr& left_rest,
                                     const ExprPtr& right, const ExprPtr& right_rest);

// Returns the contraction of a step, or nullopt where the step is another kind of reduction or is
// too small for tensor cores.
[[nodiscard]] std::optional<Contraction> ContractionOf(const Step& step);
// Returns whether both operands are of the same type of 16 bits. Tensor cores multiply them as they
// are stored, and the products are exact in the sum's fp32.
[[nodiscard]] bool Has16Bits(const Program& program, const Contraction& form);
// Returns whether the step is a product in which masks make parts zero.
[[nodiscard]] bool HasBand(const Step& step);

}  // namespace pragma::expert
