#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRoot = "/sys/fs/cgroup";

std::unexpected<Error> Unavailable(const std::string& why) {
  return Fail(ErrorKind::kUnavailable, why);
}

// Writes a control file. It belongs to the kernel, so it gets one write and no rename.
Result<void> WriteControl(const std::string& path, const std::string& value) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.valid() &&
      ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size())) {
    return {};
  }
  return Unavailable(path + ": " + std::generic_category().message(errno));
}

// Returns the path of this process in a hierarchy ("memory", or "" for v2), from /proc/self/cgroup.
std::string OwnPath(std::string_view controller) {
  const Result<std::string> text = ReadFile("/proc/self/cgroup");
  for (const std::string& line : SplitLines(text.value_or(""))) {
    const std::vector<std::string> parts = Split(line, ':');  // "4:memory:/path", "0::/path"
    if (parts.size() < 3) continue;
    for (const std::string& name : Split(parts[1], ',')) {
      if (name == controller) return parts[2];
    }
  }
  return "/";
}

// Returns the folder of this process's group below `root`, or `root` if the path belongs to another
// namespace.
std::string OwnFolder(const std::string& root, std::string_view controller) {
  std::error_code ignored;
  const std::string own = root + OwnPath(controller);
  return fs::is_directory(own, ignored) ? own : root;
}

// Makes a group name that holds this process's number, which tells which process made the group.
std::string GroupName() {
  return fmt::format("pragma-{}-{}", ::getpid(), SeedToHex(SystemSeed()).substr(0, 16));
}

bool Contains(const std::string& words, std::string_view word) {
  for (const std::string& one : Split(Trim(words), ' ')) {
    if (one == word) return true;
  }
  return false;
}

Result<CgroupPlace> FindV2() {
  const std::string own = OwnFolder(kRoot, "");
  const std::string enabled = ReadFile(own + "/cgroup.subtree_control").value_or("");
  if (!Contains(enabled, "memory") || !Contains(enabled, "pids")) {
    return Unavailable("v2, but its controllers memory and pids are not delegated to " + own);
  }
  return CgroupPlace{.version = 2, .memory = own, .pids = own};
}

Result<CgroupPlace> FindV1() {
  const std::string root = kRoot;
  std::error_code ignored;
  if (!fs::is_directory(root + "/memory", ignored) || !fs::is_directory(root + "/pids", ignored))
    return Unavailable("not mounted");
  return CgroupPlace{.version = 1,
                     .memory = OwnFolder(root + "/memory", "memory"),
                     .pids = OwnFolder(root + "/pids", "pids")};
}

Result<void> SetLimits(const CgroupPlace& place, const std::string& memory, const std::string& pids,
                       const CgroupLimits& limits) {
  const char* const file = place.version == 2 ? "/memory.max" : "/memory.limit_in_bytes";
  if (limits.memory_bytes > 0)
    TRY(WriteControl(memory + file, std::to_string(limits.memory_bytes)));
  if (limits.processes > 0) TRY(WriteControl(pids + "/pids.max", std::to_string(limits.processes)));
  return {};
}

}  // namespace

Result<CgroupPlace> FindCgroups() {
  const bool v2 = ::access((std::string(kRoot) + "/cgroup.controllers").c_str(), R_OK) == 0;
  const CgroupPlace place = TRY(v2 ? FindV2() : FindV1());
  TRY(Cgroup::Create(place, {.memory_bytes = std::size_t{1} << 30U, .processes = 16})).Remove();
  return place;
}

Result<Cgroup> Cgroup::Create(const CgroupPlace& place, const CgroupLimits& limits) {
  const std::string name = "/" + GroupName();
  Cgroup group;
  for (const std::string& parent : {place.memory, place.pids}) {
    const std::string folder = parent + name;
    if (!group.folders_.empty() && group.folders_.back() == folder) continue;
    if (::mkdir(folder.c_str(), 0755) != 0) {
      const int error = errno;
      group.Remove();
      return Unavailable(folder + ": " + std::generic_category().message(error));
    }
    group.folders_.push_back(folder);
  }
  if (auto set = SetLimits(place, place.memory + name, place.pids + name, limits); !set) {
    group.Remove();
    return std::unexpected(set.error());
  }
  return group;
}

Result<void> Cgroup::Add(pid_t pid) const {
  for (const std::string& folder : folders_)
    TRY(WriteControl(folder + "/cgroup.procs", std::to_string(pid)));
  return {};
}

void Cgroup::Remove() const {
  for (const std::string& folder : folders_) ::rmdir(folder.c_str());
}

}  // namespace pragma
