#include "serve/memory_snapshot.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"

namespace pragma {

MemorySnapshot::MemorySnapshot() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    int pid = 0;
    if (!(std::istringstream(entry.path().filename().string()) >> pid)) continue;
    all_[pid] = Read(entry.path() / "status");
  }
}

MemorySnapshot::Process MemorySnapshot::Read(const std::filesystem::path& status) {
  Process process;
  const Result<std::string> text = ReadFile(status);
  for (const std::string& line : SplitLines(text.value_or(""))) {
    std::istringstream words(line);
    std::string name;
    std::size_t number = 0;
    words >> name >> number;
    if (name == "PPid:") process.parent = static_cast<int>(number);
    if (name == "RssAnon:") process.own = number * 1024;  // the file's unit is KiB
    if (name == "RssShmem:") process.shared = number * 1024;
  }
  return process;
}

std::size_t MemorySnapshot::TreeBytes(int pid) const {
  std::size_t own = 0;
  std::size_t shared = 0;  // several processes map the ring and similar memory
  for (const auto& [number, process] : all_) {
    if (!IsBelow(number, pid)) continue;
    own += process.own;
    shared = std::max(shared, process.shared);
  }
  return own + shared;
}

bool MemorySnapshot::IsBelow(int pid, int ancestor) const {
  // Processes that started and ended while they were listed could form a cycle of parents.
  for (std::size_t steps = 0; steps < all_.size(); ++steps) {
    if (pid == ancestor) return true;
    const auto found = all_.find(pid);
    if (found == all_.end()) return false;
    pid = found->second.parent;
  }
  return false;
}

}  // namespace pragma
