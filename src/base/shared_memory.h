// SharedMemory: an anonymous memfd mapped into this process, handed to children by descriptor.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace pragma {

enum class SealKind {
  kSizeOnly,  // nobody can grow or shrink it (else a child could truncate it and we die of SIGBUS)
  kFutureWrites,  // and nobody gets a new writable mapping; ours, made before, stays writable
};

// Movable owner of descriptor and mapping; the mapping is page aligned and zero at first.
class SharedMemory final {
 public:
  // `bytes` is rounded up to whole pages. Pages cost nothing until they are touched.
  [[nodiscard]] static Result<SharedMemory> Create(const std::string& name, std::size_t bytes);
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] Result<void> Seal(SealKind kind);
  // Gives the pages back to the system; what lay there reads as zeros. Only where writing is not
  // sealed.
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
