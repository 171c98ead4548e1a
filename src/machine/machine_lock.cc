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

// In /tmp, not in a user's folder: timing is exclusive on the machine, whoever measures.
constexpr const char* kPrefix = "/tmp/pragma-";
constexpr int kMostSeats = 256;  // users of one GPU

std::string DeviceName(const std::string& number) {
  std::string name = "device-" + number;
  std::ranges::replace(name, '/', '_');
  return name;
}

Result<UniqueFd> Open(const std::string& path) {
  // flock needs no write access, so another user's file serves as well as one's own.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid() && errno == ENOENT)
    fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return FailErrno("cannot open the machine lock " + path);
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

// Timers share the gate from when they begin to wait until they are done; everybody else needs it
// for a moment on the way in. So waiting timers go first, one after the other, and those who work
// meanwhile come in together: what timers wait for are a few long sections of others, side by side,
// and not one after each timer.
Result<MachineLock::Pair> MachineLock::TakePair(const std::string& name, Kind kind) {
  Pair pair{.gate = TRY(Open(kPrefix + name + ".gate")),
            .lock = TRY(Open(kPrefix + name + ".lock"))};
  const bool timer = kind == Kind::kExclusive;
  TRY(Flock(pair.gate.get(), timer ? LOCK_SH : LOCK_EX));
  TRY(Flock(pair.lock.get(), timer ? LOCK_EX : LOCK_SH));
  if (!timer) pair.gate.Reset();
  return pair;
}

Result<MachineLock> MachineLock::Take(Kind kind) {
  MachineLock lock;
  lock.machine_ = TRY(TakePair("machine", kind));
  return lock;
}

// Always in this order, so that nobody who holds a device waits for the machine.
Result<MachineLock> MachineLock::Take(Kind kind, const std::optional<Device>& device) {
  if (!device) return Take(kind);
  MachineLock lock = TRY(Take(Kind::kShared));
  lock.device_ = TRY(TakePair(DeviceName(device->number), kind));
  return lock;
}

Result<DeviceSeat> DeviceSeat::Take(const std::vector<std::string>& numbers) {
  DeviceSeat taken;
  for (int seat = 0; seat < kMostSeats; ++seat) {
    for (const std::string& number : numbers) {
      taken.seat_ = TRY(Open(fmt::format("{}{}.seat-{}", kPrefix, DeviceName(number), seat)));
      taken.number_ = number;
      if (::flock(taken.seat_.get(), LOCK_EX | LOCK_NB) == 0) return taken;
    }
  }
  return Fail("more than " + std::to_string(kMostSeats) + " commands use each of the GPUs");
}

}  // namespace pragma
