// Replays a recorded run, from a file or from the store.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "store/store.h"

namespace pragma {

// Continues a replay that was killed, and prints its end.
[[nodiscard]] Result<int> ResumeReplayed(const Context& context, Store& store,
                                         const RunRecord& run);

}  // namespace pragma
