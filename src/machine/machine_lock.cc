#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "core/device.h"
#include "machine/machine.h"

namespace pragma {
namespace {

// The files are in /tmp, not in a user's folder, because timing is exclusive on the machine,
// whichever user measures.
constexpr const char* kPrefix = "/tmp/pragma-";
constexpr int kMostSeats = 256;  // limit of users of one GPU

std::string DeviceName(const std::string& number) {
  std::string name = "device-" + number;
  std::ranges::replace(name, '/', '_');
  return name;
}

Result<UniqueFd> Open(const std::string& name) {
  const std::string path = kPrefix + name;
  // flock needs no write access, so a file of another user serves as well.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid() && errno == ENOENT)
    fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return FailErrno("cannot open the machine lock " + path);
  return fd;
}

Result<void> Flock(const UniqueFd& fd, int operation) {
  while (!Interrupted()) {
    if (::flock(fd.get(), operation) == 0) return {};
    if (errno != EINTR) return FailErrno("cannot take the machine lock");
  }
  return Fail(ErrorKind::kInterrupted, "interrupted while waiting for the machine lock");
}

}  // namespace

// Takes the lock for work on the processors. Timers hold the gate shared, from the time they begin
// to wait until they are done. All other users need the gate for a moment on the way in. So waiting
// timers go first, and the work that was held back enters together. Timers then wait for a few long
// sections of other work that run in parallel, and not for one section after each timer.
Result<MachineLock> MachineLock::Take(Kind kind) {
  MachineLock lock;
  const bool timer = kind == Kind::kExclusive;
  lock.machine_ = {.gate = TRY(Open("machine.gate")), .lock = TRY(Open("machine.lock"))};
  TRY(Flock(lock.machine_.gate, timer ? LOCK_SH : LOCK_EX));
  if (timer) {
    lock.device_.gate = TRY(Open("machine.timers"));
    TRY(Flock(lock.device_.gate, LOCK_EX));  // also keeps GPU timers out
  }
  TRY(Flock(lock.machine_.lock, timer ? LOCK_EX : LOCK_SH));
  if (!timer) lock.machine_.gate.Reset();
  return lock;
}

// Takes the lock for timing on a GPU. Timers on different GPUs may run at the same time, but no
// other work may run meanwhile, because a context or an allocation on any GPU holds up the driver
// of all GPUs.
Result<MachineLock> MachineLock::Take(Kind kind, const std::optional<Device>& device) {
  if (!device || kind == Kind::kShared) return Take(kind);
  MachineLock lock;
  lock.machine_.gate = TRY(Open("machine.gate"));
  lock.device_ = {.gate = TRY(Open("machine.timers")),
                  .lock = TRY(Open(DeviceName(device->number) + ".lock"))};
  TRY(Flock(lock.machine_.gate, LOCK_SH));
  TRY(Flock(lock.device_.gate, LOCK_SH));
  {
    const UniqueFd working = TRY(Open("machine.lock"));
    TRY(Flock(working, LOCK_EX));  // all work has ended, and the gate keeps new work out
  }
  TRY(Flock(lock.device_.lock, LOCK_EX));
  return lock;
}

Result<DeviceSeat> DeviceSeat::Take(const std::vector<std::string>& numbers) {
  DeviceSeat taken;
  for (int seat = 0; seat < kMostSeats; ++seat) {
    for (const std::string& number : numbers) {
      taken.seat_ = TRY(Open(fmt::format("{}.seat-{}", DeviceName(number), seat)));
      taken.number_ = number;
      if (::flock(taken.seat_.get(), LOCK_EX | LOCK_NB) == 0) return taken;
    }
  }
  return Fail("more than " + std::to_string(kMostSeats) + " commands use each of the GPUs");
}

}  // namespace pragma
