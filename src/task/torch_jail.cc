#include "task/torch_jail.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "sandbox/jail.h"
#include "task/system_jail.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCopiedFileBytes = std::size_t{16} << 20U;
constexpr int kMaxCacheSlots = 64;

bool ReadableByOthers(const fs::path& path, bool folder) {
  struct stat info{};
  const mode_t wanted = folder ? S_IROTH | S_IXOTH : S_IROTH;
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & wanted) == wanted;
}

// Returns the value of "home" in pyvenv.cfg: the folder of the interpreter that made the
// environment.
std::string VenvHome(const fs::path& config) {
  const Result<std::string> text = ReadFile(config);
  if (!text) return {};
  for (const std::string& line : SplitLines(*text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || Trim(line.substr(0, equals)) != "home") continue;
    return std::string(Trim(std::string_view(line).substr(equals + 1)));
  }
  return {};
}

// Binds the folders that the environment's .pth files add to Python's path: packages that were
// installed as editable, or that several environments share.
void BindAddedFolders(JailSpec& spec, const fs::path& venv) {
  std::error_code error;
  for (const fs::directory_entry& python : fs::directory_iterator(venv / "lib", error)) {
    for (const fs::directory_entry& file :
         fs::directory_iterator(python.path() / "site-packages", error)) {
      if (file.path().extension() != ".pth") continue;
      for (const std::string& line : SplitLines(ReadFile(file.path()).value_or(""))) {
        const fs::path folder(Trim(line));
        if (folder.is_absolute()) BindSame(spec, folder.lexically_normal());
      }
    }
  }
}

// Binds the interpreter with its libraries. Returns its path as seen inside.
Result<std::string> BindPython(JailSpec& spec, const fs::path& python) {
  std::error_code error;
  const fs::path real = fs::canonical(python, error);
  if (error) {
    return Fail(ErrorKind::kUnavailable, "no Python interpreter at " + python.string() +
                                             ": create the virtual environment with torch first");
  }
  // The links from the environment's bin/python to the interpreter must also work inside.
  BindSame(spec, real.parent_path().parent_path());
  const fs::path venv = fs::absolute(python).lexically_normal().parent_path().parent_path();
  if (!fs::exists(venv / "pyvenv.cfg", error)) return real.string();
  const fs::path home = VenvHome(venv / "pyvenv.cfg");
  if (!home.empty()) BindSame(spec, home.parent_path());
  BindAddedFolders(spec, venv);
  spec.binds.push_back({venv.string(), "/venv", false});
  return "/venv/bin/" + python.filename().string();
}

std::map<std::string, std::string> TorchEnvironment() {
  return {{"PATH", "/venv/bin:/usr/bin:/bin"},
          {"HOME", "/tmp"},
          {"TMPDIR", "/tmp"},
          {"USER", "pragma"},
          {"LOGNAME", "pragma"},
          {"LANG", "C.UTF-8"},
          {"PYTHONPATH", "/pragma"},
          {"PYTHONDONTWRITEBYTECODE", "1"},
          {"PYTHONNOUSERSITE", "1"},
          {"PYTHONUNBUFFERED", "1"},
          // numpy's thread pool would be a second thread in the zygote.
          {"OPENBLAS_NUM_THREADS", "1"},
          {"TORCHINDUCTOR_CACHE_DIR", "/cache"},
          {"TORCHINDUCTOR_COMPILE_THREADS", "1"},
          {"TORCH_EXTENSIONS_DIR", "/tmp/torch_extensions"},
          // A compiler cache could not write from inside the jail.
          {"TORCH_NO_COMPILER_WRAPPER", "1"},
          {"TORCH_HOME", "/tmp"}};
}

// Opens everything under `folder` to all users, except links. No other process writes there now.
void OpenToOthers(const fs::path& folder) {
  std::error_code error;
  const auto all = fs::perms::owner_all | fs::perms::group_all | fs::perms::others_all;
  fs::permissions(folder, all, error);
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored)) continue;
    const auto wanted = entry->is_directory(ignored)
                            ? all
                            : fs::perms::owner_read | fs::perms::owner_write |
                                  fs::perms::group_read | fs::perms::group_write |
                                  fs::perms::others_read | fs::perms::others_write;
    fs::permissions(entry->path(), wanted, fs::perm_options::add, ignored);
  }
}

Result<void> CopyReadable(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    std::error_code ignored;
    if (!entry.is_regular_file(ignored) || entry.file_size(ignored) > kMaxCopiedFileBytes) continue;
    const fs::path copy = to / entry.path().filename();
    const std::string text = TRY(ReadFile(entry.path()));
    TRY(WriteFileAtomic(copy, text));
    if (::chmod(copy.c_str(), 0644) != 0) return FailErrno("cannot open " + copy.string());
  }
  if (::chmod(to.c_str(), 0755) != 0) return FailErrno("cannot open " + to.string());
  return {};
}

}  // namespace

Result<ReadableFolder> ReadableFolder::Of(const fs::path& file, bool other_user) {
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
  if (!other_user || (ReadableByOthers(folder, true) && ReadableByOthers(file, false))) {
    return ReadableFolder{.path = folder, .copy = std::nullopt};
  }
  TempDir copy = TRY(TempDir::Create());
  TRY(CopyReadable(folder, copy.path()));
  fs::path path = copy.path();
  return ReadableFolder{.path = std::move(path), .copy = std::move(copy)};
}

Result<CacheSlot> CacheSlot::Take(const fs::path& cache_dir) {
  for (int number = 0; number < kMaxCacheSlots; ++number) {
    const fs::path path = cache_dir / ("slot-" + std::to_string(number));
    TRY(MakeDirectories(path));
    const std::string lock = path.string() + ".lock";
    UniqueFd fd(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd.valid()) return FailErrno("cannot open " + lock);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;
    OpenToOthers(path);
    return CacheSlot{.path = path, .lock = std::move(fd)};
  }
  return Fail("all " + std::to_string(kMaxCacheSlots) + " cache folders in " + cache_dir.string() +
              " are in use by running servers");
}

Result<fs::path> DescriptionsFolder(const fs::path& cache_dir) {
  fs::path folder = cache_dir / "described";
  TRY(MakeDirectories(folder));
  // What is in it is not touched: running servers write there. A jail cannot replace the folder.
  if (::chmod(folder.c_str(), 0777) != 0) return FailErrno("cannot open " + folder.string());
  return folder;
}

Result<JailSpec> TorchJail(const TorchServerOptions& options) {
  JailSpec spec;
  BindSystem(spec);
  const std::string python = TRY(BindPython(spec, options.python));
  std::error_code error;
  spec.binds.push_back({fs::absolute(options.package_root, error).string(), "/pragma", false});
  spec.argv = {python, "-m", "pragma_torch"};
  spec.env = TorchEnvironment();
  if (!options.omp_wait_policy.empty()) spec.env["OMP_WAIT_POLICY"] = options.omp_wait_policy;
  if (options.device) BindDevice(spec, *options.device);
  spec.tmpfs = {"/tmp"};
  spec.proc = true;
  spec.limits.open_files = 1024;
  spec.limits.file_bytes = std::size_t{1} << 30U;  // for inductor's precompiled header
  spec.limits.tmpfs_bytes = std::size_t{1} << 30U;
  return spec;
}

}  // namespace pragma
