// Content-addressed parts of the store: texts by their SHA-256, candidates by their id. They are
// written inside the caller's transaction. Private to store/.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/candidate.h"
#include "store/database.h"

namespace pragma {

[[nodiscard]] Result<std::string> PutBlob(Database& database, std::string_view bytes);
[[nodiscard]] Result<std::string> GetBlob(Database& database, const std::string& sha256);
// Stores the candidate and returns its id.
[[nodiscard]] Result<std::string> PutCandidate(Database& database, const Candidate& candidate);
[[nodiscard]] Result<Candidate> GetCandidate(Database& database, const std::string& id);

}  // namespace pragma
