// Reductions (folds) from which several operators are built.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/lower/program_builder.h"

namespace pragma::expert {

// Returns the type of a sum that an operator computes on its way to a result of type `dtype`. It is
// never rounded to 16 bits, as in Torch's own kernels, also where it is stored.
[[nodiscard]] DType SumType(DType dtype);
[[nodiscard]] Value AsType(ProgramBuilder& builder, const Value& value, DType dtype);
[[nodiscard]] Value Times(ProgramBuilder& builder, const Value& value, double factor);
// Divides, and does not multiply by the rounded inverse: the mean of equal values is that value
// then (if their sum is exact), and what a normalisation subtracts it from becomes 0.
[[nodiscard]] Value DividedBy(ProgramBuilder& builder, const Value& value, std::int64_t count);
// Returns the mean in the type of sums.
[[nodiscard]] Value Mean(ProgramBuilder& builder, const Value& value,
                         const std::vector<bool>& folded, bool keep);
// Returns the sum of (value - mean)^2. It makes two passes over the data, for the best accuracy
// that is possible.
[[nodiscard]] Value SquaredDistance(ProgramBuilder& builder, const Value& value, const Value& mean,
                                    const ProgramBuilder::FoldPlan& plan);

// exp(value - largest), which cannot overflow, and its sum. Reduced dimensions are kept with size
// 1.
struct Shifted {
  Value largest;
  Value exponential;
  Value sum;
};
enum class Keep : std::uint8_t { kNothing, kExponentials };
[[nodiscard]] Shifted ShiftedExponentials(ProgramBuilder& builder, const Value& value,
                                          const std::vector<bool>& folded, Keep keep);

}  // namespace pragma::expert
