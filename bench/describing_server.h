// Options of a PyTorch server with which benchmark programs describe tasks. It does not time
// anything.
#pragma once

#include <filesystem>
#include <optional>

#include "task/torch_server.h"

namespace pragma {

// Returns the server's options. Its cache is in `folder`, which is created if it does not exist.
inline TorchServerOptions DescribingServer(const std::filesystem::path& python,
                                           const std::filesystem::path& folder, int threads) {
  const std::filesystem::path cache = folder / "cache";
  std::filesystem::create_directories(cache);
  return {.python = python,
          .package_root = PRAGMA_SOURCE_DIR "/python",
          .cache_dir = cache,
          .threads = threads,
          .timers = std::nullopt};
}

}  // namespace pragma
