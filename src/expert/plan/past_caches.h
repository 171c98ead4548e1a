// Stores past the caches: which results go there, and what keeps others of the same nest out of
// their way.
#pragma once

#include <cstdint>
#include <optional>

#include "expert/plan/nest_choices.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"

namespace pragma::expert {

inline constexpr std::int64_t kFloatsOfLine = 16;  // of a cache, and of the widest vector

// An output that no cache would hold goes past them, where all its vectors are aligned.
[[nodiscard]] bool GoesPast(const Program& program, const Nest& nest, const Step& step,
                            const NestChoices& choices);

// A nest whose threads each have a row of their own (Nest::rows) for what it reads again.
struct HeldRows {
  Program program;  // with the rows' buffers
  Nest nest;
};

// Results that lie in an output until a later pass of the same row overwrites them would have its
// lines read first, and keep the last pass from storing past the caches. None where no output is
// used like that, would then still not go past the caches, or has too long rows.
[[nodiscard]] std::optional<HeldRows> HoldRows(const Program& program, const Nest& nest,
                                               const NestChoices& choices);

}  // namespace pragma::expert
