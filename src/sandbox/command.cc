#include "sandbox/command.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sandbox/jail.h"
#include "worker/jail/init_protocol.h"

namespace pragma {
namespace {

using Words = std::vector<std::string>;

void Append(Words& words, Words more) {
  for (std::string& word : more) words.push_back(std::move(word));
}

bool IsDevice(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode));
}

std::string_view BindOption(const Bind& bind) {
  if (IsDevice(bind.from)) return "--dev-bind";
  return bind.writable ? "--bind" : "--ro-bind";
}

Words GuardWords(const JailTraits& traits) {
  Words words{traits.init, "--guard"};
  for (const std::string& folder : traits.cgroups) Append(words, {"--remove", folder});
  for (const std::string& folder : traits.scratch) Append(words, {"--clear", folder});
  return words;
}

Words NamespaceWords(const JailTraits& traits) {
  Words words;
  if (traits.user_namespace) {
    words = {"--unshare-user", "--uid", "1000", "--gid", "1000"};
  }
  Append(words, {"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
                 "--unshare-cgroup-try", "--hostname", "pragma", "--die-with-parent",
                 "--new-session", "--clearenv", "--as-pid-1", "--cap-drop", "ALL"});
  if (traits.uid != 0) {
    // Only init gets these capabilities. It gives the program a user of its own.
    Append(words,
           {"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_DAC_OVERRIDE"});
  }
  return words;
}

// Adds the folders above each mount. bubblewrap would make them private to root, and then access()
// fails where execve() succeeds (g++ looks for its parts with access()).
void AddParents(std::multimap<std::string, Words>& mounts) {
  std::set<std::string> parents;
  for (const auto& [to, mount] : mounts) {
    for (std::filesystem::path above = std::filesystem::path(to).parent_path();
         above != above.root_path() && !above.empty(); above = above.parent_path()) {
      if (!mounts.contains(above.string())) parents.insert(above.string());
    }
  }
  for (const std::string& path : parents) mounts.insert({path, {"--perms", "0755", "--dir", path}});
}

// Returns the mount options, parents before children, because a mount hides what was mounted below
// it earlier. Sorting by `to` gives that order.
Words MountWords(const JailSpec& spec) {
  std::multimap<std::string, Words> mounts;
  for (const Bind& bind : spec.binds) {
    mounts.insert(
        {bind.to, {std::string(BindOption(bind)), std::filesystem::absolute(bind.from), bind.to}});
  }
  for (const std::string& path : spec.tmpfs) {
    mounts.insert(
        {path,
         {"--perms", "1777", "--size", std::to_string(spec.limits.tmpfs_bytes), "--tmpfs", path}});
  }
  if (spec.proc) mounts.insert({"/proc", {"--proc", "/proc"}});
  mounts.insert({"/dev", {"--dir", "/dev"}});
  mounts.insert({"/dev/null", {"--dev-bind", "/dev/null", "/dev/null"}});
  AddParents(mounts);
  Words words;
  for (auto& [to, mount] : mounts) Append(words, std::move(mount));
  return words;
}

void AddLimit(Words& words, const char* name, double value) {
  if (value > 0) Append(words, {name, std::to_string(static_cast<unsigned long long>(value))});
}

Words LimitWords(const JailLimits& limits) {
  Words words;
  AddLimit(words, "--as", static_cast<double>(limits.address_space_bytes));
  AddLimit(words, "--cpu", std::ceil(limits.cpu.count()));
  AddLimit(words, "--fsize", static_cast<double>(limits.file_bytes));
  AddLimit(words, "--nproc", limits.processes);
  AddLimit(words, "--nofile", limits.open_files);
  AddLimit(words, "--stack", static_cast<double>(limits.stack_bytes));
  return words;
}

Words InitWords(const JailSpec& spec, std::uint32_t uid) {
  Words words = LimitWords(spec.limits);
  Append(words, {"--cwd", spec.cwd});
  if (uid != 0) Append(words, {"--uid", std::to_string(uid)});
  for (const auto& [name, value] : spec.env)
    Append(words, {"--env", std::string(name).append("=").append(value)});
  int source = PRAGMA_INIT_FIRST_FD;
  for (const auto& [from, to] : spec.fds) {
    Append(words, {"--fd", std::to_string(source++) + ":" + std::to_string(to)});
  }
  words.emplace_back("--");
  Append(words, spec.argv);
  return words;
}

bool IsIn(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

// Returns a path outside. `binds` are in the order of their precedence.
std::string OutsidePath(const std::string& path, const std::vector<Bind>& binds) {
  const auto bind = std::ranges::find_if(binds, [&](const Bind& b) { return IsIn(path, b.to); });
  if (bind == binds.end()) return path;
  return std::filesystem::absolute(bind->from).string() + path.substr(bind->to.size());
}

// Replaces the inside paths in a word: "/a", "/a:/b", "--option=/a".
std::string Outside(const std::string& text, const std::vector<Bind>& binds) {
  const std::size_t equals = text.starts_with('-') ? text.find('=') : std::string::npos;
  const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
  Words parts = Split(text.substr(begin), ':');
  for (std::string& part : parts) part = OutsidePath(part, binds);
  return text.substr(0, begin) + Join(parts, ":");
}

Words ReducedWords(const JailSpec& spec, int landlock) {
  Words words{"--reduced", std::to_string(landlock), "--read", "/dev/null"};
  for (const Bind& bind : spec.binds) {
    Append(words, {bind.writable ? "--write" : "--read", std::filesystem::absolute(bind.from)});
  }
  if (spec.proc) Append(words, {"--read", "/proc"});
  return words;
}

}  // namespace

std::vector<std::string> JailCommand(const JailSpec& spec, const JailTraits& traits) {
  Words words = GuardWords(traits);
  words.push_back(traits.bwrap);
  Append(words, NamespaceWords(traits));
  Append(words, MountWords(spec));
  for (const auto& [target, path] : spec.symlinks) Append(words, {"--symlink", target, path});
  Append(words, {"--ro-bind", traits.init, kInitInside, "--remount-ro", "/", "--", kInitInside});
  JailSpec inside = spec;
  // Within its own user namespace, the program has the same user as init, which counts as well.
  if (traits.user_namespace && spec.limits.processes > 0) ++inside.limits.processes;
  Append(words, InitWords(inside, traits.uid));
  return words;
}

std::vector<std::string> PlainCommand(const JailSpec& spec, const JailTraits& traits) {
  JailSpec outside = spec;
  // Unless the user is the jail's own, the limit would count all other processes of this user.
  if (traits.uid == 0) outside.limits.processes = 0;
  outside.binds.push_back({traits.init, kInitInside, false});
  // The longest inside path comes first, because it is the most specific one.
  std::ranges::stable_sort(outside.binds,
                           [](const Bind& a, const Bind& b) { return a.to.size() > b.to.size(); });
  for (std::string& word : outside.argv) word = Outside(word, outside.binds);
  for (auto& [name, value] : outside.env) value = Outside(value, outside.binds);
  outside.cwd = OutsidePath(spec.cwd, outside.binds);
  Words words = GuardWords(traits);
  words.push_back(traits.init);
  if (traits.kind == JailKind::kReduced) Append(words, ReducedWords(outside, traits.landlock));
  Append(words, InitWords(outside, traits.uid));
  return words;
}

}  // namespace pragma
