#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace pragma {
namespace {

Result<void> WriteAll(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return FailErrno("cannot write " + name);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::string> ReadAll(int fd, const std::string& name, std::size_t max_bytes) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno("cannot read " + name);
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > max_bytes) {
      return Fail(ErrorKind::kUsage,
                  name + " is larger than the limit of " + std::to_string(max_bytes) + " bytes");
    }
  }
}

}  // namespace

Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return FailErrno("cannot open " + path.string());
  return ReadAll(fd.get(), path.string(), max_bytes);
}

Result<std::string> ReadForeignFile(const std::filesystem::path& path, std::size_t max_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0)
    return FailErrno("cannot open " + path.string());
  if (!S_ISREG(info.st_mode)) return Fail(path.string() + " is not a plain file");
  return ReadAll(fd.get(), path.string(), max_bytes);
}

Result<void> WriteFileAtomic(const std::filesystem::path& path, std::string_view text) {
  std::string pattern = path.string() + ".XXXXXX";
  const UniqueFd fd(::mkostemp(pattern.data(), O_CLOEXEC));
  if (!fd.valid()) return FailErrno("cannot create a file next to " + path.string());
  Result<void> written = WriteAll(fd.get(), text, path.string());
  if (written && (::fchmod(fd.get(), 0644) != 0 || ::rename(pattern.c_str(), path.c_str()) != 0)) {
    written = FailErrno("cannot write " + path.string());
  }
  if (!written) ::unlink(pattern.c_str());
  return written;
}

Result<void> MakeDirectories(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) return Fail("cannot create the folder " + path.string() + ": " + code.message());
  return {};
}

bool DiskIsFull(const std::filesystem::path& folder) {
  constexpr double kHardlyAnything = 1 << 20;
  struct statvfs figures{};
  return ::statvfs(folder.c_str(), &figures) == 0 &&
         static_cast<double>(figures.f_bavail) * static_cast<double>(figures.f_frsize) <
             kHardlyAnything;
}

Result<TempDir> TempDir::Create(const std::filesystem::path& parent) {
  std::error_code code;
  const std::filesystem::path base =
      parent.empty() ? std::filesystem::temp_directory_path(code) : parent;
  std::string pattern = (base / "pragma-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return FailErrno("cannot create a folder in " + base.string());
  return TempDir(pattern);
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  if (this != &other) {
    Remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

TempDir::~TempDir() { Remove(); }

void TempDir::Remove() noexcept {
  if (path_.empty()) return;
  std::error_code code;
  std::filesystem::remove_all(path_, code);
}

}  // namespace pragma
