#include "build/toolchain.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// Returns the program itself and not a wrapper, which would look for its cache outside the jail.
std::string RealProgram(const fs::path& candidate) {
  std::error_code code;
  const fs::path real = fs::canonical(candidate, code);
  if (code || ::access(real.c_str(), X_OK) != 0) return {};
  const std::string name = real.filename();
  return name == "ccache" || name == "distcc" || name == "icecc" ? std::string() : real.string();
}

std::string FindExact(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::string real = folder.empty() ? "" : RealProgram(fs::path(folder) / name);
    if (!real.empty()) return real;
  }
  return {};
}

// Returns the number of "clang++-19", or 0 for other names.
int NumberedVersion(const std::string& file, const std::string& name) {
  const std::string prefix = name + "-";
  if (!file.starts_with(prefix) || file.size() == prefix.size() || file.size() > prefix.size() + 3)
    return 0;
  const std::string digits = file.substr(prefix.size());
  const bool number = std::ranges::all_of(
      digits, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  return number ? std::atoi(digits.c_str()) : 0;
}

std::string MissingText(const std::string& name) {
  if (name == "nvcc") {
    return "nvcc is not on PATH: install the CUDA toolkit of the driver's version, or put the "
           "folder of its nvcc on PATH";
  }
  const std::string package =
      name == "g++" ? "g++" : "clang-19 and libomp-19-dev (or another version)";
  return "the compiler " + name + " is not installed on this machine (package " + package +
         "); use " + (name == "g++" ? "clang++" : "g++");
}

Toolchain Missing(const std::string& name) {
  return {.path = {},
          .version = {},
          .identity = {},
          .clang = false,
          .library_folder = {},
          .missing = MissingText(name)};
}

// Returns the part of a path that must be bound for a program outside /usr: "/opt/gcc" for
// "/opt/gcc/bin/g++".
fs::path InstallRoot(const fs::path& program) { return program.parent_path().parent_path(); }

Result<Toolchain> Describe(const std::string& path, bool clang) {
  const RunResult run =
      TRY(RunProcess({.argv = {path, "--version"}, .env = {{"LC_ALL", "C"}}}, {}));
  struct stat info{};
  if (!run.status.ok() || ::stat(path.c_str(), &info) != 0) {
    return Fail(ErrorKind::kUnavailable,
                "the compiler " + path + " does not run: " + Shorten(run.err, 200));
  }
  const std::vector<std::string> lines = SplitLines(run.out);
  Toolchain toolchain{.path = path,
                      .version = {},
                      .identity = {},
                      .clang = clang,
                      .library_folder = {},
                      .missing = {}};
  // The first line of nvcc's output is only its name.
  const auto numbered = std::ranges::find_if(
      lines, [](const std::string& line) { return line.find(", release ") != line.npos; });
  const std::string_view said = lines.empty() ? path : lines.front();
  toolchain.version =
      ToValidUtf8(Trim(numbered == lines.end() ? said : std::string_view(*numbered)));
  if (clang) {
    std::error_code code;
    const fs::path folder = InstallRoot(fs::weakly_canonical(path, code)) / "lib";
    if (fs::exists(folder / "libomp.so", code)) toolchain.library_folder = folder;
  }
  toolchain.identity = path + "\n" + toolchain.version + "\n" + std::to_string(info.st_size) +
                       "\n" + std::to_string(info.st_mtim.tv_sec);
  return toolchain;
}

void BindSystemFolder(const std::string& folder, JailSpec& spec) {
  std::error_code code;
  if (fs::is_symlink(folder, code)) {
    spec.symlinks.emplace_back(fs::read_symlink(folder, code), folder);
  } else if (fs::is_directory(folder, code)) {
    spec.binds.push_back({folder, folder, false});
  }
}

}  // namespace

std::vector<std::string> PathFolders() {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): no code sets it
  return Split(path == nullptr ? "/usr/bin:/bin" : path, ':');
}

std::string FindProgram(const std::string& name, const std::vector<std::string>& folders) {
  int best = 0;
  std::string path;
  for (const std::string& folder : folders) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
      const int version = NumberedVersion(entry.path().filename(), name);
      if (version <= best || RealProgram(entry.path()).empty()) continue;
      best = version;
      path = entry.path();  // clang's behaviour depends on the name it is called by
    }
  }
  return path.empty() ? FindExact(name, folders) : path;
}

Result<Toolchain> Toolchains::Find(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto known = found_.find(name); known != found_.end()) return known->second;
  const bool clang = name == "clang++";
  const std::string path =
      clang ? FindProgram(name, PathFolders()) : FindExact(name, PathFolders());
  Toolchain toolchain = path.empty() ? Missing(name) : TRY(Describe(path, clang));
  found_.emplace(name, toolchain);
  return toolchain;
}

void BindToolchain(const Toolchain& toolchain, JailSpec& spec) {
  spec.binds.push_back({"/usr", "/usr", false});
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64"})
    BindSystemFolder(folder, spec);
  for (const char* file : {"/etc/ld.so.cache", "/etc/alternatives"}) {
    std::error_code code;
    if (fs::exists(file, code)) spec.binds.push_back({file, file, false});
  }
  const fs::path root = InstallRoot(fs::weakly_canonical(toolchain.path));
  if (!root.string().starts_with("/usr") && root != "/") spec.binds.push_back({root, root, false});
}

std::string ProcessorIdentity() {
  const Result<std::string> text = ReadFile("/proc/cpuinfo");
  std::string identity;
  for (const std::string& line : SplitLines(text.value_or(""))) {
    if (line.empty()) break;  // the first processor represents all
    const std::string_view name = Trim(std::string_view(line).substr(0, line.find(':')));
    for (const std::string_view wanted :
         {"vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU implementer",
          "CPU part", "Features"}) {
      if (name == wanted) identity += line + "\n";
    }
  }
  return identity;
}

}  // namespace pragma
