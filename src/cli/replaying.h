// Replays: a recorded run driven again, from a file or from the store.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "search/recording.h"
#include "store/store.h"

namespace pragma {

// `what`: a recording's file, or a run of the store at `context.home`.
[[nodiscard]] Result<Recording> FindRecording(const Context& context, const std::string& what);
// Goes on with a replay that was killed, and prints its end.
[[nodiscard]] Result<int> ResumeReplayed(const Context& context, Store& store,
                                         const RunRecord& run);

}  // namespace pragma
