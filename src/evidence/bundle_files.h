// Bundles as files: SHA256.json in a folder of bundles, or a file of any name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "evidence/bundle.h"

namespace pragma {

// Writes it into `folder` (made if need be) under its name; returns the path.
[[nodiscard]] Result<std::filesystem::path> KeepBundle(const SealedBundle& bundle,
                                                       const std::filesystem::path& folder);
// kUsage unless it is a file with a bundle that OpenBundle takes.
[[nodiscard]] Result<OpenedBundle> LoadBundle(const std::filesystem::path& file);
// The only bundle of `folder` whose name begins with `prefix` (at least four digits). kUsage: there
// is none, or there are several.
[[nodiscard]] Result<std::filesystem::path> FindBundle(const std::filesystem::path& folder,
                                                       std::string_view prefix);
[[nodiscard]] bool LooksLikeBundleName(std::string_view text);

}  // namespace pragma
