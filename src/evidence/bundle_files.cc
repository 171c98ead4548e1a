#include "evidence/bundle_files.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "evidence/bundle.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortestPrefix = 4;

}  // namespace

Result<fs::path> KeepBundle(const SealedBundle& bundle, const fs::path& folder) {
  if (bundle.text.size() > kMaxBundleBytes) {
    return Fail("the evidence is not kept: " + std::to_string(bundle.text.size()) +
                " bytes are more than a bundle may have");
  }
  TRY(MakeDirectories(folder));
  fs::path path = folder / (bundle.sha256 + ".json");
  TRY(WriteFileAtomic(path, bundle.text));
  return path;
}

Result<OpenedBundle> LoadBundle(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    return Fail(ErrorKind::kUsage, "there is no evidence bundle " + file.string());
  const Result<std::string> text = ReadFile(file, kMaxBundleBytes);
  if (!text) return Fail(ErrorKind::kUsage, text.error().message);
  return OpenBundle(*text, file.string());
}

bool LooksLikeBundleName(std::string_view text) {
  return text.size() >= kShortestPrefix && text.size() <= kSha256Digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<fs::path> FindBundle(const fs::path& folder, std::string_view prefix) {
  fs::path found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || entry.path().extension() != ".json") continue;
    if (!found.empty()) {
      return Fail(ErrorKind::kUsage,
                  "several bundles begin with " + std::string(prefix) + "; give more of the name");
    }
    found = entry.path();
  }
  if (found.empty()) {
    return Fail(ErrorKind::kUsage, "no bundle in " + folder.string() + " begins with " +
                                       std::string(prefix) +
                                       "; name its file, or its folder with --home");
  }
  return found;
}

}  // namespace pragma
