// MemorySnapshot tells how much memory process trees hold at one moment.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>

namespace pragma {

class MemorySnapshot final {
 public:
  // Reads all processes of the machine that are visible to the caller.
  MemorySnapshot();
  // Returns the memory of the process and its descendants, in bytes. Memory shared among several of
  // them counts once.
  [[nodiscard]] std::size_t TreeBytes(int pid) const;

 private:
  struct Process {
    int parent = 0;
    std::size_t own = 0;     // private memory in bytes
    std::size_t shared = 0;  // bytes of memory that other processes may map as well
  };
  [[nodiscard]] static Process Read(const std::filesystem::path& status);
  [[nodiscard]] bool IsBelow(int pid, int ancestor) const;
  std::map<int, Process> all_;
};

}  // namespace pragma
