// AppContext: what evaluation and search need besides a task: the settings, where pragma's parts
// are, and where runs are kept. It knows nothing of a console or of command-line flags.
#pragma once

#include <filesystem>

#include "app/paths.h"
#include "app/settings.h"

namespace pragma {

struct AppContext {
  Settings settings;
  Paths paths;
  std::filesystem::path home;  // folder of the store
};

}  // namespace pragma
