// Bounds: how fast any kernel for a task can be on this machine.
#pragma once

#include <cstddef>
#include <optional>

#include "core/task.h"
#include "core/timing.h"
#include "machine/machine.h"

namespace pragma {

struct Traffic {
  std::size_t read_bytes = 0;
  std::size_t write_bytes = 0;
};

// Returns the bytes that no correct kernel can avoid moving: every output once, and every argument
// that some operator uses as a whole. Arguments that are only indexed, gathered or sliced are left
// out.
[[nodiscard]] Traffic UnavoidableTraffic(const Task& task);

// Returns the milliseconds that this traffic takes at the best bandwidth measured on the processors
// for working sets of this size or larger. 0 when nothing was measured.
[[nodiscard]] double TrafficMs(const Traffic& traffic, std::size_t working_set,
                               const Machine& machine);

// Returns the milliseconds below which a time cannot be right: the unavoidable bytes at the best
// bandwidth measured for working sets of at least one input set's size. 0 when nothing was
// measured.
[[nodiscard]] double HardBoundMs(const Task& task, const Machine& machine);

// True if a time is impossibly short. The check leaves a margin, because measured bandwidths are
// not exact.
[[nodiscard]] bool FasterThanPossible(double ms, double bound_ms);
// False if the call is so short that even the longest burst is lost in the doorbell's noise. Its
// times then cannot prove anything.
[[nodiscard]] bool BoundCanBeTold(double bound_ms, double doorbell_us);

// Returns the FLOPs of the task as written divided by the measured peak, in milliseconds. A
// legitimate shortcut may be faster.
[[nodiscard]] double SoftBoundMs(const Task& task, const Machine& machine);

// Returns the time of the task's operations at the measured peak of the units that its type can use
// (matrix units included), or of its unavoidable bytes, whichever is longer. nullopt where no peak
// was measured.
[[nodiscard]] std::optional<Roofline> RooflineOf(const Task& task, const Machine& machine);

}  // namespace pragma
