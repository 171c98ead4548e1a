// The trials of a run as rows: what of them lies in which column. Private to store/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "store/database.h"

namespace pragma {

// `run` is the run's number. Inside the caller's transaction; false: there is such a trial already.
[[nodiscard]] Result<bool> InsertTrial(Database& database, std::int64_t run, const Trial& trial);
// All but its candidate.
[[nodiscard]] Result<void> UpdateTrial(Database& database, std::int64_t run, const Trial& trial);
// Of the run `id`, by node.
[[nodiscard]] Result<std::vector<Trial>> ReadTrials(Database& database, const std::string& id);
[[nodiscard]] Result<std::vector<TrialSummary>> ReadSummaries(Database& database,
                                                              const std::string& id);
[[nodiscard]] Result<Trial> ReadTrial(Database& database, const std::string& id, int node);

}  // namespace pragma
