#include "base/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace pragma {

Result<SharedMemory> SharedMemory::Create(const std::string& name, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  SharedMemory memory;
  memory.size_ = (bytes + page - 1) / page * page;
  memory.fd_ = UniqueFd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.fd_.valid()) return FailErrno("cannot create shared memory " + name);
  if (::ftruncate(memory.fd_.get(), static_cast<off_t>(memory.size_)) != 0) {
    return FailErrno("cannot size shared memory " + name + " to " + std::to_string(memory.size_));
  }
  if (memory.size_ == 0) return memory;
  void* address =
      ::mmap(nullptr, memory.size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd_.get(), 0);
  if (address == MAP_FAILED) return FailErrno("cannot map shared memory " + name);
  memory.data_ = static_cast<std::byte*>(address);
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this != &other) {
    Unmap();
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

SharedMemory::~SharedMemory() { Unmap(); }

Result<void> SharedMemory::Seal(SealKind kind) {
  int seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (kind == SealKind::kFutureWrites) seals |= F_SEAL_FUTURE_WRITE;
  if (::fcntl(fd_.get(), F_ADD_SEALS, seals) != 0) return FailErrno("cannot seal shared memory");
  return {};
}

Result<void> SharedMemory::Discard() {
  if (size_ == 0) return {};
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(fd_.get(), kMode, 0, static_cast<off_t>(size_)) != 0)
    return FailErrno("cannot give shared memory back");
  return {};
}

void SharedMemory::Unmap() noexcept {
  if (data_ != nullptr) ::munmap(data_, size_);
  data_ = nullptr;
}

}  // namespace pragma
