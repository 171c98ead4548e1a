// What an evaluation on a GPU does about other programs on the same GPU: their use of its memory
// must become neither a verdict nor an error.
#pragma once

#include <functional>

#include "base/result.h"
#include "core/evaluation.h"

namespace pragma {

// True if this ended for lack of memory, on the device or in a process.
[[nodiscard]] bool RanOutOfMemory(const Result<Evaluation>& outcome);

struct SharedCard {
  std::function<Result<Evaluation>()> judge;
  std::function<bool()> has_neighbour;      // another program uses the GPU's memory
  std::function<Result<void>()> make_room;  // gives up all memory, and waits for room
};

// Judges. If memory ran out while another program used the GPU, waits for room and judges once
// more. If it runs out again and the other program is still there, fails with kUnavailable, because
// nothing is known about the kernel.
[[nodiscard]] Result<Evaluation> JudgeOnSharedCard(const SharedCard& card);

}  // namespace pragma
