// Bounds: how fast any kernel for a task can be on this machine.
#pragma once

#include <cstddef>

#include "core/task.h"
#include "machine/machine.h"

namespace pragma {

struct Traffic {
  std::size_t read_bytes = 0;
  std::size_t write_bytes = 0;
};

// Bytes no correct kernel can avoid: every output once, and every argument that some operator uses
// as a whole (arguments that are only indexed, gathered or sliced are left out).
[[nodiscard]] Traffic UnavoidableTraffic(const Task& task);

// Milliseconds that this many bytes take at the best bandwidth measured on the processors for
// working sets of this size or larger. 0 when nothing was measured.
[[nodiscard]] double TrafficMs(const Traffic& traffic, std::size_t working_set,
                               const Machine& machine);

// Milliseconds below which a time cannot be right: the unavoidable bytes at the best bandwidth
// measured for working sets of one set's size or larger. 0 when nothing was measured.
[[nodiscard]] double HardBoundMs(const Task& task, const Machine& machine);

// Whether so short a time is impossible; measured bandwidths are not exact.
[[nodiscard]] bool FasterThanPossible(double ms, double bound_ms);
// False where even the longest burst of so short a call drowns in the doorbell's noise: its times
// cannot prove anything.
[[nodiscard]] bool BoundCanBeTold(double bound_ms, double doorbell_us);

// FLOPs of the task as written over the measured peak, in milliseconds; a legitimate shortcut may
// beat it.
[[nodiscard]] double SoftBoundMs(const Task& task, const Machine& machine);

}  // namespace pragma
