// How benches have tasks described: a PyTorch server that times nothing.
#pragma once

#include <filesystem>
#include <optional>

#include "task/torch_server.h"

namespace pragma {

// Its cache lies in `folder`, which is made if need be.
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
