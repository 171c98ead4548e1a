// Folds that several operators are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/builder.h"

namespace pragma {

[[nodiscard]] Value Times(Builder& builder, const Value& value, double factor);
[[nodiscard]] Value Mean(Builder& builder, const Value& value, const std::vector<bool>& folded,
                         bool keep);
// The sum of (value - mean)^2: twice over the data, as exact as one can have it.
[[nodiscard]] Value SquaredDistance(Builder& builder, const Value& value, const Value& mean,
                                    const Builder::FoldPlan& plan);

// e^(value - largest), which cannot overflow, and its sum; folded dimensions are kept.
struct Shifted {
  Value largest;
  Value exponential;
  Value sum;
};
enum class Keep : std::uint8_t { kNothing, kExponentials };
[[nodiscard]] Shifted ShiftedExponentials(Builder& builder, const Value& value,
                                          const std::vector<bool>& folded, Keep keep);

}  // namespace pragma
