#include "task/system_jail.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "core/backend.h"
#include "core/device.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// Files that a system needs in addition to /usr: the loader's cache, the compiler's links, the
// processor's caches as PyTorch reads them, and the source of Python's and PyTorch's first random
// numbers.
constexpr std::array<std::string_view, 4> kSystemFiles{"/etc/ld.so.cache", "/etc/alternatives",
                                                       "/sys/devices/system/cpu", "/dev/urandom"};

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool IsUnder(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace

void BindSame(JailSpec& spec, const fs::path& path) {
  const std::string text = path.string();
  if (text.empty() || path == path.root_path() || IsUnder(path, "/usr") || !Exists(path)) return;
  const auto same = [&text](const Bind& bind) { return bind.to == text; };
  if (std::ranges::none_of(spec.binds, same)) spec.binds.push_back({text, text, false});
}

void BindSystem(JailSpec& spec) {
  spec.binds.push_back({"/usr", "/usr", false});
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    if (fs::is_symlink(name, error)) {
      spec.symlinks.emplace_back(fs::read_symlink(name, error).string(), name);
    } else {
      BindSame(spec, name);
    }
  }
  for (const std::string_view path : kSystemFiles) BindSame(spec, path);
}

namespace {

// Binds the files in /dev whose names begin so. A beginning may lead into a folder: "dri/render".
void BindDeviceFiles(JailSpec& spec, const std::string& beginning) {
  const fs::path path = fs::path("/dev") / beginning;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path.parent_path(), error)) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with(path.filename().string()) &&
        entry.is_character_file(ignored))
      BindSame(spec, entry.path());
  }
}

}  // namespace

void BindDevice(JailSpec& spec, const Device& device) {
  const Backend& backend = device.backend;
  for (const std::string& beginning : backend.device_files) BindDeviceFiles(spec, beginning);
  for (const std::string& folder : backend.folders) BindSame(spec, folder);
  const fs::path library = fs::path(device.library).parent_path();
  if (!library.empty()) {
    BindSame(spec, library);
    for (const std::string& name : backend.library_env) spec.env[name] = library.string();
  }
  for (const auto& [name, value] : backend.env) spec.env[name] = value;
  if (!backend.visible.empty()) spec.env[backend.visible] = device.number;
}

}  // namespace pragma
