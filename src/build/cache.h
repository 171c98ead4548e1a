// BuildCache: built objects by content. An entry is a folder "<key>" with kernel.so and meta.json,
// put in place by one rename, so two processes may share it; a damaged entry counts as none.
//
// meta.json's first line is the SHA-256 of the rest, which holds the object's own: whatever a crash
// or a disk did to either file is seen.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "build/builder.h"

namespace pragma {

class BuildCache final {
 public:
  explicit BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Creates the folder, and removes what a killed process left behind long ago.
  [[nodiscard]] Result<void> Open() const;
  [[nodiscard]] std::optional<BuiltKernel> Find(const std::string& key) const;
  // Keeps the object's bytes; returns `kernel` with its place and hash.
  [[nodiscard]] Result<BuiltKernel> Keep(const std::string& key, BuiltKernel kernel,
                                         const std::string& bytes) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace pragma
