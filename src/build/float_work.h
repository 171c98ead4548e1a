// The floating-point arithmetic of one instruction.
#pragma once

#include <cstdint>

#include "build/assembly.h"

namespace pragma {

struct FloatWork {
  std::uint64_t flops = 0;  // of all lanes; a fused multiply-add is two
  std::uint64_t bits = 0;   // width; a scalar's own. 0: no floating-point arithmetic
  bool scalar = false;
  bool fused = false;
  bool multiplies = false;
};

[[nodiscard]] FloatWork FloatWorkOf(const Instruction& instruction);

}  // namespace pragma
