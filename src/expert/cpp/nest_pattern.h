// NestPattern: what nests that differ in their buffers alone have in common, so that one function
// computes them all. Deep networks repeat their layers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/emit_nest.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"

namespace pragma::expert {

struct NestPattern {
  std::string text;          // nests with the same text are computed by the same function
  std::vector<int> buffers;  // what the function is handed, in this order
};

[[nodiscard]] NestPattern PatternOf(const Program& program, const Nest& nest,
                                    const KernelTarget& target, const NestChoices& choices);

// The nest with every buffer's addresses counted from the first line that it touches, and where
// that line is.
struct RebasedNest {
  Nest nest;
  std::map<int, std::int64_t> start;
};
[[nodiscard]] RebasedNest Rebased(const Nest& nest);

}  // namespace pragma::expert
