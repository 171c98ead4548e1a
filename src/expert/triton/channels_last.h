// What convolutions that are written with their channels innermost have in common.
#pragma once

#include <cstdint>
#include <string>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert::triton {

inline constexpr std::int64_t kChannelUnit = 8;  // elements of 16 bits in one load of 16 bytes

// Returns [batch, spatial..., channels].
[[nodiscard]] Shape ChannelsLast(std::int64_t batch, const Shape& spatial, std::int64_t channels);

// Returns the form over [outer, spatial..., channels] of the elements of a contiguous tensor
// [outer, channels, spatial...].
[[nodiscard]] AffineForm FromChannelsFirst(std::int64_t outer, std::int64_t channels,
                                           const Shape& spatial);

// Returns a step before `of` that fills a new contiguous buffer of this shape and type.
[[nodiscard]] Step Filled(Program& program, const Step& of, const std::string& what,
                          const Shape& shape, const ExprPtr& expr, DType dtype);

}  // namespace pragma::expert::triton
