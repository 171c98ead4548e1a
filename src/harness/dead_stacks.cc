#include "harness/dead_stacks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"

namespace pragma {
namespace {

constexpr std::size_t kMost = std::size_t{16} << 20U;
constexpr std::uint64_t kRedZone = 256;  // the ABI reserves 128 bytes, which may still be in use
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63U;  // bit of an entry of /proc/PID/pagemap
// An OpenMP thread spins before it waits: for milliseconds of processor time, or 0.2 s with LLVM's
// library. Beside other programs that takes many times as long, and a thread that was given up
// would be a place for state that is not looked at.
constexpr int kTries = 1000;
constexpr std::chrono::milliseconds kPause{1};
constexpr std::size_t kPartsOfOneCall = 512;  // below the system's limit on iovecs per call

std::uint64_t PageBytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

// Returns the stack pointer of a thread that waits in a system call. nullopt means that the thread
// is running or that we may not look at it.
std::optional<std::uint64_t> WaitingAt(const std::filesystem::path& thread) {
  for (int i = 0; i < kTries; ++i) {
    const Result<std::string> text = ReadFile(thread / "syscall");
    if (!text) return std::nullopt;
    if (text->starts_with("running")) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    // The file holds the call's number, six arguments, the stack pointer and the program counter.
    // Outside a system call it is "-1 SP PC".
    std::istringstream words(*text);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    if (all.size() < 3 || all.front() == "-1") return std::nullopt;
    return std::strtoull(all[all.size() - 2].c_str(), nullptr, 16);
  }
  return std::nullopt;
}

struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::vector<Mapping> Mappings(pid_t pid) {
  std::vector<Mapping> all;
  const Result<std::string> text = ReadFile(fmt::format("/proc/{}/maps", pid));
  if (!text) return all;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    Mapping mapping;
    char access[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &mapping.begin, &mapping.end, access) == 3 &&
        access[0] == 'r' && access[1] == 'w') {
      all.push_back(mapping);
    }
  }
  return all;
}

}  // namespace

DeadStacks DeadStacks::Of(pid_t pid) {
  DeadStacks stacks(pid);
  const std::vector<Mapping> mappings = Mappings(pid);
  std::error_code code;
  for (const auto& thread :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), code)) {
    const std::optional<std::uint64_t> pointer = WaitingAt(thread.path());
    if (!pointer) continue;
    for (const Mapping& mapping : mappings) {
      if (mapping.begin <= *pointer && *pointer < mapping.end)
        stacks.Add({mapping.begin, mapping.end}, *pointer);
    }
  }
  return stacks;
}

// Adds the stack's present pages. `pointer` is the stack pointer; the pages below it are walked
// downwards.
void DeadStacks::Add(const Range& stack, std::uint64_t pointer) {
  const std::uint64_t page = PageBytes();
  const std::uint64_t end = pointer - kRedZone;
  if (end <= stack.begin) return;
  const UniqueFd map(::open(fmt::format("/proc/{}/pagemap", pid_).c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::uint64_t> entries((end - stack.begin + page - 1) / page);
  const auto bytes = static_cast<ssize_t>(entries.size() * sizeof(std::uint64_t));
  const auto offset = static_cast<off_t>(stack.begin / page * sizeof(std::uint64_t));
  if (!map.valid() ||
      ::pread(map.get(), entries.data(), static_cast<std::size_t>(bytes), offset) != bytes)
    return;
  for (std::size_t i = entries.size(); i > 0 && total_ < kMost; --i) {
    if ((entries[i - 1] & kPresent) == 0) continue;
    const std::uint64_t begin = stack.begin + (i - 1) * page;
    ranges_.push_back({begin, std::min(begin + page, end)});
    total_ += ranges_.back().end - ranges_.back().begin;
  }
}

std::vector<std::byte> DeadStacks::Read() const {
  std::vector<std::byte> bytes(total_);
  std::size_t at = 0;
  for (std::size_t first = 0; first < ranges_.size(); first += kPartsOfOneCall) {
    std::vector<iovec> remote;
    std::size_t size = 0;
    for (std::size_t i = first; i < std::min(first + kPartsOfOneCall, ranges_.size()); ++i) {
      const std::size_t length = ranges_[i].end - ranges_[i].begin;
      remote.push_back({reinterpret_cast<void*>(ranges_[i].begin), length});
      size += length;
    }
    const iovec local{bytes.data() + at, size};
    if (::process_vm_readv(pid_, &local, 1, remote.data(), remote.size(), 0) !=
        static_cast<ssize_t>(size)) {
      return {};
    }
    at += size;
  }
  return bytes;
}

bool DeadStacks::Write(std::span<const std::byte> bytes) const {
  if (bytes.size() != total_) return false;
  std::size_t at = 0;
  for (const Range& range : ranges_) {
    const std::size_t length = range.end - range.begin;
    // process_vm_writev only reads the local side.
    const iovec local{const_cast<std::byte*>(bytes.data() + at), length};
    const iovec remote{reinterpret_cast<void*>(range.begin), length};
    if (::process_vm_writev(pid_, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(length))
      return false;
    at += length;
  }
  return true;
}

}  // namespace pragma
