// Stores the trials of a run as rows, and knows which column holds which part. Private to store/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/trial_summary.h"
#include "store/database.h"

namespace pragma {

struct Trial;

// Inserts a trial inside the caller's transaction. `run` is the run's number. False: there is
// already such a trial.
[[nodiscard]] Result<bool> InsertTrial(Database& database, std::int64_t run, const Trial& trial);
// Rewrites everything of a trial except its candidate.
[[nodiscard]] Result<void> UpdateTrial(Database& database, std::int64_t run, const Trial& trial);
// Returns the trials of the run `id`, by node.
[[nodiscard]] Result<std::vector<Trial>> ReadTrials(Database& database, const std::string& id);
[[nodiscard]] Result<std::vector<TrialSummary>> ReadSummaries(Database& database,
                                                              const std::string& id);
[[nodiscard]] Result<Trial> ReadTrial(Database& database, const std::string& id, int node);

}  // namespace pragma
