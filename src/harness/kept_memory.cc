// The part of WorkerProcess that reads and writes what a C++ candidate kept from its calls.
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "harness/worker_process.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

constexpr std::size_t kMostKept = std::size_t{64} << 20U;

iovec Remote(std::uint64_t address, std::size_t bytes) {
  // The address belongs to the other process.
  return {.iov_base = reinterpret_cast<void*>(address), .iov_len = bytes};
}

}  // namespace

// Addresses and lengths as the worker reported them once it was loaded. The lengths are cut to what
// we are ready to hold.
struct WorkerProcess::KeptParts {
  std::uint64_t data_address = 0;
  std::size_t data_bytes = 0;
  std::uint64_t thread_address = 0;
  std::size_t thread_bytes = 0;
  std::size_t scratch_bytes = 0;

  [[nodiscard]] std::size_t total() const { return data_bytes + thread_bytes + scratch_bytes; }
};

WorkerProcess::KeptParts WorkerProcess::Parts() const {
  if (python_ != nullptr) return {};
  const pragma_control& page = peer_->doorbell().page();
  KeptParts parts;
  std::size_t room = kMostKept;
  const auto take = [&room](std::uint64_t wanted) {
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, room));
    room -= taken;
    return taken;
  };
  parts.data_address = page.data_address;
  parts.data_bytes = take(page.data_bytes);
  parts.thread_address = page.tls_address;
  parts.thread_bytes = take(page.tls_bytes);
  parts.scratch_bytes = take(scratch_bytes_);
  return parts;
}

std::vector<std::byte> WorkerProcess::ReadKept() const {
  const KeptParts parts = Parts();
  std::vector<std::byte> kept(parts.total());
  const iovec local{.iov_base = kept.data(), .iov_len = parts.data_bytes + parts.thread_bytes};
  const iovec remote[] = {Remote(parts.data_address, parts.data_bytes),
                          Remote(parts.thread_address, parts.thread_bytes)};
  if (local.iov_len > 0 && ::process_vm_readv(peer_->pid(), &local, 1, remote, 2, 0) !=
                               static_cast<ssize_t>(local.iov_len)) {
    return {};
  }
  std::ranges::copy(scratch_.bytes().first(parts.scratch_bytes),
                    kept.begin() + static_cast<std::ptrdiff_t>(local.iov_len));
  return kept;
}

bool WorkerProcess::WriteKept(std::span<const std::byte> kept) {
  const KeptParts parts = Parts();
  if (kept.size() != parts.total()) return false;
  const iovec local{.iov_base = const_cast<std::byte*>(kept.data()),  // not written
                    .iov_len = parts.data_bytes + parts.thread_bytes};
  const iovec remote[] = {Remote(parts.data_address, parts.data_bytes),
                          Remote(parts.thread_address, parts.thread_bytes)};
  if (local.iov_len > 0 && ::process_vm_writev(peer_->pid(), &local, 1, remote, 2, 0) !=
                               static_cast<ssize_t>(local.iov_len)) {
    return false;
  }
  std::ranges::copy(kept.subspan(local.iov_len), scratch_.bytes().begin());
  return true;
}

}  // namespace pragma
