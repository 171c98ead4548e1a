// FloatWork: the floating-point arithmetic of one instruction.
#pragma once

#include <cstdint>

#include "build/assembly.h"

namespace pragma {

struct FloatWork {
  std::uint64_t flops = 0;  // over all lanes; a fused multiply-add counts as two
  std::uint64_t bits = 0;   // width of the vector, or of the scalar; 0: no floating-point
                            // arithmetic
  bool scalar = false;
  bool fused = false;
  bool multiplies = false;
};

[[nodiscard]] FloatWork FloatWorkOf(const Instruction& instruction);

}  // namespace pragma
