// DeadStacks: the memory below the stack pointers of a process's waiting threads. Calls leave bytes
// there, and nothing clears them before the next call, so a kernel could use them to count its
// calls.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pragma {

class DeadStacks final {
 public:
  // Finds, for each thread that waits in a system call, the pages below its stack pointer that were
  // ever touched. Only the first 16 MiB are kept. The result is empty where the system does not let
  // us look. The process must not run in the meantime.
  [[nodiscard]] static DeadStacks Of(pid_t pid);

  // Reads the same places each time. An empty result means that they cannot be read any more.
  [[nodiscard]] std::vector<std::byte> Read() const;
  // Writes `bytes` to the same places. `bytes` must have the length of Read's result. Returns false
  // if the places cannot be written.
  [[nodiscard]] bool Write(std::span<const std::byte> bytes) const;

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  explicit DeadStacks(pid_t pid) : pid_(pid) {}
  void Add(const Range& stack, std::uint64_t pointer);

  pid_t pid_;
  std::vector<Range> ranges_;
  std::size_t total_ = 0;
};

}  // namespace pragma
