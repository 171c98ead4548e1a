// Small file helpers; every error names the path.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pragma {

// The whole file; a file larger than `max_bytes` is an error, not a truncation.
[[nodiscard]] Result<std::string> ReadFile(const std::filesystem::path& path,
                                           std::size_t max_bytes = std::size_t{64} << 20U);
// The same for what a jailed program wrote: no link is followed, and only a plain file is read.
[[nodiscard]] Result<std::string> ReadForeignFile(const std::filesystem::path& path,
                                                  std::size_t max_bytes);
// Writes beside the target and renames, so that a reader sees the old or the new text, never half.
[[nodiscard]] Result<void> WriteFileAtomic(const std::filesystem::path& path,
                                           std::string_view text);
[[nodiscard]] Result<void> MakeDirectories(const std::filesystem::path& path);

// A folder that is removed with everything in it when the object dies.
class TempDir final {
 public:
  [[nodiscard]] static Result<TempDir> Create(const std::filesystem::path& parent = {});
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TempDir(std::filesystem::path path) : path_(std::move(path)) {}
  void Remove() noexcept;
  std::filesystem::path path_;
};

}  // namespace pragma
