// Toolchain: one installed compiler, found and named; and what of the host the build jail must see.
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
  std::string identity;  // path, version, size and date: a change means other code
  bool clang = false;
  std::string library_folder;  // clang: where its own libomp lies, if that is installed
  std::string missing;         // why there is none; the rest is empty then
  [[nodiscard]] bool has_openmp() const {
    return missing.empty() && (!clang || !library_folder.empty());
  }
};

// Found once, then remembered: asking a compiler for its version costs as much as a small build.
class Toolchains final {
 public:
  // `name` is "g++", "clang++" (then the newest installed) or "nvcc". Thread-safe.
  [[nodiscard]] Result<Toolchain> Find(const std::string& name);

 private:
  std::mutex mutex_;
  std::map<std::string, Toolchain> found_;
};

// The host's folders with programs, headers and libraries, read-only, for both compilers.
void BindToolchain(const Toolchain& toolchain, JailSpec& spec);

// The folders of PATH.
[[nodiscard]] std::vector<std::string> PathFolders();
// The newest "NAME-19" of these folders, else "NAME"; empty: there is none.
[[nodiscard]] std::string FindProgram(const std::string& name,
                                      const std::vector<std::string>& folders);

// What -march=native means here: a change of it makes cached objects worthless.
[[nodiscard]] std::string ProcessorIdentity();

}  // namespace pragma
