#include "machine/device_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "core/device.h"
#include "machine/machine.h"

namespace pragma {
namespace {

constexpr int kMostShares = 256;
constexpr double kUsableShare = 0.95;  // a driver keeps some memory for itself
constexpr std::chrono::milliseconds kLookAgain{250};

std::size_t Taken(const DeviceMemory& memory) { return std::max(memory.used, memory.promised); }

// The files are in /tmp, as those of MachineLock are, because a device is shared by all users.
std::string FileOf(const std::string& number, const std::string& name) {
  std::string file = "device-" + number + ".memory" + name;
  std::ranges::replace(file, '/', '_');
  return "/tmp/pragma-" + file;
}

// Opens a file that every user may write. An invalid descriptor: there is none, or it cannot be
// opened.
UniqueFd OpenShared(const std::string& path, bool create) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (fd.valid() || errno != ENOENT || !create) return fd;
  fd = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (fd.valid()) ::fchmod(fd.get(), 0666);  // whatever the umask
  return fd;
}

struct Promise {
  std::size_t bytes = 0;
  pid_t process = 0;
};

Promise ReadPromise(const UniqueFd& fd) {
  std::array<char, 64> text{};
  const ssize_t size = ::pread(fd.get(), text.data(), text.size() - 1, 0);
  Promise promise;
  if (size > 0) std::istringstream(text.data()) >> promise.bytes >> promise.process;
  return promise;
}

Result<void> WritePromise(const UniqueFd& fd, std::size_t bytes) {
  const std::string text = fmt::format("{} {}\n", bytes, ::getpid());
  const bool written =
      ::ftruncate(fd.get(), 0) == 0 &&
      ::pwrite(fd.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (!written) return FailErrno("cannot note a share of the GPU's memory");
  return {};
}

// The shares of a device: a free seat, and what the taken ones hold.
struct Shares {
  UniqueFd free;
  std::size_t of_others = 0;
  bool have_one = false;  // this process has a share already
};

// The caller holds the gate.
Shares ReadShares(const std::string& number, bool want_seat) {
  Shares shares;
  for (int i = 0; i < kMostShares; ++i) {
    const bool create = want_seat && !shares.free.valid();
    UniqueFd seat = OpenShared(FileOf(number, "-" + std::to_string(i)), create);
    if (!seat.valid() && errno == ENOENT) break;
    if (!seat.valid()) continue;
    if (::flock(seat.get(), LOCK_EX | LOCK_NB) == 0) {
      if (create) shares.free = std::move(seat);
      continue;
    }
    const Promise promise = ReadPromise(seat);
    const bool own = promise.process == ::getpid();
    shares.have_one = shares.have_one || own;
    if (!own) shares.of_others += promise.bytes;
  }
  return shares;
}

// Excludes the others while shares are read and taken. It is held for milliseconds.
Result<UniqueFd> TakeGate(const std::string& number) {
  const std::string path = FileOf(number, "");
  UniqueFd gate = OpenShared(path, /*create=*/true);
  if (!gate.valid()) gate = OpenShared(path, /*create=*/true);  // another one made it meanwhile
  if (!gate.valid()) return FailErrno("cannot open " + path);
  while (::flock(gate.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return FailErrno("cannot lock " + path);
  }
  return gate;
}

DeviceMemory MemoryOf(const SharedDevice& device, const Shares& shares) {
  return {
      .total = device.total, .used = device.used ? device.used() : 0, .promised = shares.of_others};
}

std::string Gigabytes(std::size_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) * 1e-9);
}

}  // namespace

bool HasNeighbour(const DeviceMemory& memory) {
  const std::size_t idle = memory.total / 50 + (std::size_t{1} << 30U);
  return memory.promised > 0 || memory.used > idle;
}

bool HasRoom(const DeviceMemory& memory, std::size_t bytes) {
  if (!HasNeighbour(memory)) return true;
  return static_cast<double>(Taken(memory) + bytes) <=
         kUsableShare * static_cast<double>(memory.total);
}

SharedDevice SharedDeviceOf(const Device& device, const std::string& program_dir) {
  return {.number = device.number,
          .total = device.memory_bytes,
          .used = [backend = device.backend, number = device.number, program_dir]() -> std::size_t {
            const Result<Device> now = FindDevice(backend, program_dir, number);
            return now ? now->memory_used_bytes : 0;
          }};
}

Result<DeviceMemory> DeviceMemoryShare::Look(const SharedDevice& device) {
  const UniqueFd gate = TRY(TakeGate(device.number));
  return MemoryOf(device, ReadShares(device.number, /*want_seat=*/false));
}

Result<DeviceMemoryShare> DeviceMemoryShare::Take(const SharedDevice& device, std::size_t bytes) {
  bool told = false;
  while (true) {
    {
      const UniqueFd gate = TRY(TakeGate(device.number));
      Shares shares = ReadShares(device.number, /*want_seat=*/true);
      if (!shares.free.valid())
        return Fail("more than " + std::to_string(kMostShares) + " commands use the GPU " +
                    device.number);
      const DeviceMemory memory = MemoryOf(device, shares);
      if (shares.have_one || HasRoom(memory, bytes)) {
        TRY(WritePromise(shares.free, bytes));
        DeviceMemoryShare share;
        share.seat_ = std::move(shares.free);
        return share;
      }
      if (!std::exchange(told, true)) {
        Log(LogLevel::kInfo,
            fmt::format("waiting for memory of the GPU {}: {} are needed, and other programs have "
                        "{} of {}",
                        device.number, Gigabytes(bytes), Gigabytes(Taken(memory)),
                        Gigabytes(memory.total)));
      }
    }
    if (Interrupted())
      return Fail(ErrorKind::kInterrupted, "interrupted while waiting for the GPU's memory");
    std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace pragma
