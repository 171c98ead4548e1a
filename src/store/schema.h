// The tables of the store, by version, and the migrations from each version to the next
// (docs/store.md). Private to store/.
#pragma once

#include <string>

#include "base/result.h"
#include "store/database.h"

namespace pragma {

inline constexpr int kStoreVersion = 3;

// Creates the tables of an empty file or migrates an older file, in one transaction. Refuses a
// newer file. `name` is the file's name, for messages.
[[nodiscard]] Result<void> Migrate(Database& database, const std::string& name);

}  // namespace pragma
