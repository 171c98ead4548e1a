// The parts of this system that a jail sees if its program is more than a single file: Python with
// PyTorch, the CUDA driver.
#pragma once

#include <filesystem>

#include "core/device.h"
#include "sandbox/jail.h"

namespace pragma {

// Binds a path read-only at the same place inside, if it exists and is not below /usr.
void BindSame(JailSpec& spec, const std::filesystem::path& path);
// Binds /usr with its links, and the other files that programs in it need.
void BindSystem(JailSpec& spec);
// Binds the driver's character devices, its library if the loader would not find it, and /sys,
// without which the driver is slow to start.
void BindDevice(JailSpec& spec, const Device& device);

}  // namespace pragma
