#include "task/system_jail.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

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

void BindDevice(JailSpec& spec, const Device& device) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (name.starts_with("nvidia") && entry.is_character_file(ignored))
      BindSame(spec, entry.path());
  }
  const fs::path folder = fs::path(device.library).parent_path();
  if (!folder.empty()) {
    BindSame(spec, folder);
    spec.env["LD_LIBRARY_PATH"] = folder.string();
    spec.env["TRITON_LIBCUDA_PATH"] = folder.string();
  }
  BindSame(spec, "/sys");
  spec.env["TRITON_CACHE_DIR"] = "/cache/triton";
  spec.env["CUDA_CACHE_PATH"] = "/tmp/cuda";
  spec.env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  spec.env["CUDA_VISIBLE_DEVICES"] = device.number;
}

}  // namespace pragma
