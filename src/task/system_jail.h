// What of this system a jail sees whose program is no single file: Python with torch, the CUDA
// driver.
#pragma once

#include <filesystem>

#include "core/device.h"
#include "sandbox/jail.h"

namespace pragma {

// Read-only and at the same place inside, where it exists and is not below /usr.
void BindSame(JailSpec& spec, const std::filesystem::path& path);
// /usr with its links, and what programs of it need besides.
void BindSystem(JailSpec& spec);
// The driver's character devices, its library where the loader would not look, and /sys, without
// which it is slow to start.
void BindDevice(JailSpec& spec, const Device& device);

}  // namespace pragma
