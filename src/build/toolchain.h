// Toolchain: one installed compiler, found and identified, and the parts of the host that the build
// jail must see.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail.h"

namespace pragma {

struct Toolchain {
  std::string path;      // real path: "/usr/bin/x86_64-linux-gnu-g++-12"
  std::string version;   // "g++ (Debian 12.2.0-14) 12.2.0"
  std::string identity;  // path, version, size and date; a change means that the compiler generates
                         // other code
  bool clang = false;
  std::string library_folder;  // for clang: folder of its own libomp, if that is installed
  std::string missing;         // reason why there is no such compiler; all other fields are then
                               // empty
  [[nodiscard]] bool has_openmp() const {
    return missing.empty() && (!clang || !library_folder.empty());
  }
};

// Toolchains: finds each compiler once and remembers it, because asking a compiler for its version
// costs as much as a small build.
class Toolchains final {
 public:
  // Finds a compiler. `name` is "g++", "clang++" (which means the newest installed one) or "nvcc".
  // Thread-safe.
  [[nodiscard]] Result<Toolchain> Find(const std::string& name);

 private:
  std::mutex mutex_;
  std::map<std::string, Toolchain> found_;
};

// Binds the host's folders with programs, headers and libraries, read-only, for both compilers.
void BindToolchain(const Toolchain& toolchain, JailSpec& spec);

// Returns the folders of PATH.
[[nodiscard]] std::vector<std::string> PathFolders();
// Returns the newest "NAME-19" in these folders, or else "NAME". Empty: there is neither.
[[nodiscard]] std::string FindProgram(const std::string& name,
                                      const std::vector<std::string>& folders);

// Returns what -march=native means on this processor. If it changes, cached objects are invalid.
[[nodiscard]] std::string ProcessorIdentity();

}  // namespace pragma
