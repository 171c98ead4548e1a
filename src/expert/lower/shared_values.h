// Values that several operators read: which of them are stored.
#pragma once

#include "expert/ir/program.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {

// Returns whether a value with several readers is stored once, because it costs each of them more
// to compute it again than to read it.
[[nodiscard]] bool StoresShared(const Value& value, const Program& program,
                                const LowerPolicy& policy);

}  // namespace pragma::expert
