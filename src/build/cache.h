// BuildCache: built objects, stored by content. An entry is a folder "<key>" with kernel.so and
// meta.json. It is put in place by one rename, so two processes may share the cache. A damaged
// entry counts as absent.
//
// The first line of meta.json is the SHA-256 of its other lines, which hold the object's SHA-256.
// Damage to either file by a crash or a disk is therefore detected.
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
  // Creates the folder, and removes old leftovers of killed processes.
  [[nodiscard]] Result<void> Open() const;
  [[nodiscard]] std::optional<BuiltKernel> Find(const std::string& key) const;
  // Stores the object's bytes. Returns `kernel` with its path and hash filled in.
  [[nodiscard]] Result<BuiltKernel> Keep(const std::string& key, BuiltKernel kernel,
                                         const std::string& bytes) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace pragma
