// Non-temporal (streaming) stores: which results are written with them, and how other results of
// the same nest are kept from preventing it.
#pragma once

#include <cstdint>
#include <optional>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/nest_choices.h"

namespace pragma::expert {

inline constexpr std::int64_t kFloatsOfLine = 16;  // floats in a cache line, and in the widest
                                                   // vector

// Returns whether a step writes with non-temporal stores: its output does not fit in any cache, and
// all its vectors are aligned.
[[nodiscard]] bool GoesPast(const Program& program, const Nest& nest, const Step& step,
                            const NestChoices& choices);

// A nest whose threads each hold a private row (Nest::rows) for values that the nest reads again.
struct HeldRows {
  Program program;  // with the buffers of the rows added
  Nest nest;
};

// Moves intermediate results from an output to private rows. Intermediate results that are kept in
// an output until a later pass over the same row overwrites them would cause its lines to be read
// first, and would keep the last pass from using non-temporal stores. Returns nullopt where no
// output is used like that, where the output would still not be written with non-temporal stores,
// or where its rows are too long.
[[nodiscard]] std::optional<HeldRows> HoldRows(const Program& program, const Nest& nest,
                                               const NestChoices& choices);

}  // namespace pragma::expert
