// A backend of this repository, for tests.
#pragma once

#include <string>

#include "base/file.h"
#include "core/backend.h"

namespace pragma {

inline Backend ShippedBackend(const std::string& id) {
  const std::string path = PRAGMA_SOURCE_DIR "/knowledge/backends/" + id + ".toml";
  return ParseBackend(ReadFile(path).value(), path).value();
}

}  // namespace pragma
