// DeadStacks: what lies below the stack pointers of a process's waiting threads. Calls leave bytes
// there that nothing clears before the next one: a kernel could count its calls in them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pragma {

class DeadStacks final {
 public:
  // Of threads that wait in the system, the pages that were ever touched; of more than 16 MiB the
  // first. Empty where the system does not let us look. The process must not run meanwhile.
  [[nodiscard]] static DeadStacks Of(pid_t pid);

  // The same places each time; empty: it cannot be read any more.
  [[nodiscard]] std::vector<std::byte> Read() const;
  // `bytes` is as long as what Read gives. False: it cannot be written.
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
