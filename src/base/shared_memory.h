// SharedMemory: an anonymous memfd that is mapped into this process. Children get it by descriptor.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace pragma {

enum class SealKind {
  kSizeOnly,      // no process can grow or shrink it (a child could otherwise truncate it and kill
                  // pragma by SIGBUS)
  kFutureWrites,  // also, no process gets a new writable mapping; pragma's earlier mapping stays
                  // writable
};

// SharedMemory: owns the descriptor and the mapping, and is movable. The mapping is page aligned
// and initially zero.
class SharedMemory final {
 public:
  // Creates the memory. `bytes` is rounded up to whole pages. Pages cost nothing until they are
  // touched.
  [[nodiscard]] static Result<SharedMemory> Create(const std::string& name, std::size_t bytes);
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] Result<void> Seal(SealKind kind);
  // Gives the pages back to the system. Their contents read as zeros afterwards. Allowed only while
  // writing is not sealed.
  [[nodiscard]] Result<void> Discard();
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  void Unmap() noexcept;
  UniqueFd fd_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pragma
