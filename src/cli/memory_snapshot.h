// MemorySnapshot: how much memory processes with all below them hold, at one moment.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>

namespace pragma {

class MemorySnapshot final {
 public:
  // Of all processes on the machine that can be seen.
  MemorySnapshot();
  // Of the process and its descendants, in bytes. Memory that several of them share counts once.
  [[nodiscard]] std::size_t TreeBytes(int pid) const;

 private:
  struct Process {
    int parent = 0;
    std::size_t own = 0;     // bytes
    std::size_t shared = 0;  // of memory that others may map as well
  };
  [[nodiscard]] static Process Read(const std::filesystem::path& status);
  [[nodiscard]] bool IsBelow(int pid, int ancestor) const;
  std::map<int, Process> all_;
};

}  // namespace pragma
