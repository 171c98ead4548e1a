// DeviceMemoryShare: a command's promise of how much of a GPU's memory it will use, so that several
// commands on one GPU wait for each other instead of running out of memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "core/device.h"

namespace pragma {

// What is known of a device's memory when a command asks for a share.
struct DeviceMemory {
  std::size_t total = 0;
  std::size_t used = 0;      // by all programs, as the driver says; 0: it does not say
  std::size_t promised = 0;  // to other commands, which may not have taken it yet
};

// True if another program uses a part of the device that matters. What a driver itself and a
// desktop use does not count.
[[nodiscard]] bool HasNeighbour(const DeviceMemory& memory);
// True if a command that needs `bytes` may begin: there is room, or it has the device to itself. In
// the second case what does not fit would never fit.
[[nodiscard]] bool HasRoom(const DeviceMemory& memory, std::size_t bytes);

// A device on which shares are taken.
struct SharedDevice {
  std::string number;  // Device::number
  std::size_t total = 0;
  std::function<std::size_t()> used;  // asks the driver; may be empty
};
// `program_dir` is where the backend's probe may be (FindDevice).
[[nodiscard]] SharedDevice SharedDeviceOf(const Device& device, const std::string& program_dir);

class DeviceMemoryShare final {
 public:
  // Takes a share. Waits until there is room for it, and says so once. A further share of the same
  // process does not wait, because two commands could wait for each other's first. Ctrl-C ends the
  // wait with kInterrupted.
  [[nodiscard]] static Result<DeviceMemoryShare> Take(const SharedDevice& device,
                                                      std::size_t bytes);
  // Returns what the others have been promised now, and what is used.
  [[nodiscard]] static Result<DeviceMemory> Look(const SharedDevice& device);

 private:
  UniqueFd seat_;  // a locked file that holds the number of bytes; the lock ends with its holder
};

}  // namespace pragma
