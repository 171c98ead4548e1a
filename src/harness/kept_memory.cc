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

}  // namespace

// Where the kept memory lies, as the worker reported it once it was loaded: the object's data, the
// thread-local data of each thread, then the scratch. The lengths are cut to what we are ready to
// hold.
struct WorkerProcess::KeptParts {
  std::vector<iovec> remote;  // of the other process
  std::size_t remote_bytes = 0;
  std::size_t scratch_bytes = 0;

  [[nodiscard]] std::size_t total() const { return remote_bytes + scratch_bytes; }
  void Add(std::uint64_t address, std::uint64_t bytes);
};

void WorkerProcess::KeptParts::Add(std::uint64_t address, std::uint64_t bytes) {
  const std::size_t length = std::min<std::uint64_t>(bytes, kMostKept - remote_bytes);
  if (length == 0) return;
  remote.push_back({.iov_base = reinterpret_cast<void*>(address), .iov_len = length});
  remote_bytes += length;
}

WorkerProcess::KeptParts WorkerProcess::Parts() const {
  if (python_ != nullptr) return {};
  const pragma_control& page = peer_->doorbell().page();
  KeptParts parts;
  parts.Add(page.data_address, page.data_bytes);
  const std::uint64_t thread_bytes = page.thread_bytes;
  for (const std::uint64_t address : page.thread_data) {
    if (address != 0) parts.Add(address, thread_bytes);
  }
  parts.scratch_bytes = std::min(scratch_bytes_, kMostKept - parts.remote_bytes);
  return parts;
}

std::vector<std::byte> WorkerProcess::ReadKept() const {
  const KeptParts parts = Parts();
  std::vector<std::byte> kept(parts.total());
  const iovec local{.iov_base = kept.data(), .iov_len = parts.remote_bytes};
  if (parts.remote_bytes > 0 &&
      ::process_vm_readv(peer_->pid(), &local, 1, parts.remote.data(), parts.remote.size(), 0) !=
          static_cast<ssize_t>(parts.remote_bytes)) {
    return {};
  }
  std::ranges::copy(scratch_.bytes().first(parts.scratch_bytes),
                    kept.begin() + static_cast<std::ptrdiff_t>(parts.remote_bytes));
  return kept;
}

bool WorkerProcess::WriteKept(std::span<const std::byte> kept) {
  const KeptParts parts = Parts();
  if (kept.size() != parts.total()) return false;
  const iovec local{.iov_base = const_cast<std::byte*>(kept.data()),  // not written
                    .iov_len = parts.remote_bytes};
  if (parts.remote_bytes > 0 &&
      ::process_vm_writev(peer_->pid(), &local, 1, parts.remote.data(), parts.remote.size(), 0) !=
          static_cast<ssize_t>(parts.remote_bytes)) {
    return false;
  }
  std::ranges::copy(kept.subspan(parts.remote_bytes), scratch_.bytes().begin());
  return true;
}

}  // namespace pragma
