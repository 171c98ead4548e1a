// NestPattern: what nests that differ only in their buffers have in common, so that one function
// computes them all. Deep networks repeat their layers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/emit_nest.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

struct NestPattern {
  std::string text;          // nests with the same text are computed by the same function
  std::vector<int> buffers;  // buffers that are passed to the function, in this order
};

[[nodiscard]] NestPattern PatternOf(const Program& program, const Nest& nest,
                                    const KernelTarget& target, const NestChoices& choices);

// The nest with the addresses of every buffer relative to the first cache line that it touches, and
// the offset of that line for each buffer.
struct RebasedNest {
  Nest nest;
  std::map<int, std::int64_t> start;
};
[[nodiscard]] RebasedNest Rebased(const Nest& nest);

}  // namespace pragma::expert
