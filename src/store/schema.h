// The store's tables, by version, and the way from each version to the next (docs/store.md).
// Private to store/.
#pragma once

#include <string>

#include "base/result.h"
#include "store/database.h"

namespace pragma {

inline constexpr int kStoreVersion = 3;

// Creates the tables of an empty file or migrates an older one, in one transaction; refuses a newer
// one. `name` is the file, for messages.
[[nodiscard]] Result<void> Migrate(Database& database, const std::string& name);

}  // namespace pragma
