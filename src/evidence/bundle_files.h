// Stores bundles as files: SHA256.json in a folder of bundles, or a file with any name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pragma {

struct OpenedBundle;
struct SealedBundle;

// Writes the bundle under its name into `folder`, which is created if necessary. Returns the path.
[[nodiscard]] Result<std::filesystem::path> KeepBundle(const SealedBundle& bundle,
                                                       const std::filesystem::path& folder);
// Loads a bundle. Returns kUsage unless the file holds a bundle that OpenBundle accepts.
[[nodiscard]] Result<OpenedBundle> LoadBundle(const std::filesystem::path& file);
// Returns the only bundle of `folder` whose name begins with `prefix` (at least four digits).
// Returns kUsage if there is none or more than one.
[[nodiscard]] Result<std::filesystem::path> FindBundle(const std::filesystem::path& folder,
                                                       std::string_view prefix);
[[nodiscard]] bool LooksLikeBundleName(std::string_view text);

}  // namespace pragma
