// Small file helpers. Every error message names the path.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pragma {

// Reads the whole file. A file larger than `max_bytes` is an error. It is never truncated.
[[nodiscard]] Result<std::string> ReadFile(const std::filesystem::path& path,
                                           std::size_t max_bytes = std::size_t{64} << 20U);
// Like ReadFile, for a file that a jailed program wrote: follows no link and reads only a regular
// file.
[[nodiscard]] Result<std::string> ReadForeignFile(const std::filesystem::path& path,
                                                  std::size_t max_bytes);
// Writes a temporary file next to the target and renames it, so that a reader sees either the old
// or the new text, never a part of it.
[[nodiscard]] Result<void> WriteFileAtomic(const std::filesystem::path& path,
                                           std::string_view text);
[[nodiscard]] Result<void> MakeDirectories(const std::filesystem::path& path);

// Returns true if hardly anything can be written to the folder's disk any more.
[[nodiscard]] bool DiskIsFull(const std::filesystem::path& folder);

// TempDir: a temporary folder. The destructor removes it with everything in it.
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
