#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "machine/machine.h"

namespace pragma {
namespace {

// In /tmp, not in a user's folder: timing is exclusive on the machine, whoever measures.
constexpr const char* kGatePath = "/tmp/pragma-machine.gate";
constexpr const char* kLockPath = "/tmp/pragma-machine.lock";

Result<UniqueFd> Open(const char* path) {
  // flock needs no write access, so another user's file serves as well as one's own.
  UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid() && errno == ENOENT)
    fd = UniqueFd(::open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return FailErrno(std::string("cannot open the machine lock ") + path);
  return fd;
}

Result<void> Flock(int fd, int operation) {
  while (::flock(fd, operation) != 0) {
    if (errno != EINTR) return FailErrno("cannot take the machine lock");
    if (Interrupted())
      return Fail(ErrorKind::kInterrupted, "interrupted while waiting for the machine lock");
  }
  return {};
}

}  // namespace

// A timer takes the gate first and keeps it while it waits for the others to leave; everybody else
// passes the gate on the way in. So a waiting timer goes first.
Result<MachineLock> MachineLock::Take(Kind kind) {
  MachineLock lock;
  lock.gate_ = TRY(Open(kGatePath));
  lock.lock_ = TRY(Open(kLockPath));
  const int mode = kind == Kind::kExclusive ? LOCK_EX : LOCK_SH;
  if (auto gate = Flock(lock.gate_.get(), mode); !gate) return std::unexpected(gate.error());
  if (auto taken = Flock(lock.lock_.get(), mode); !taken) return std::unexpected(taken.error());
  if (kind == Kind::kShared) lock.gate_.Reset();
  return lock;
}

}  // namespace pragma
