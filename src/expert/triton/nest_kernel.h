// Writes the kernel of a nest: maps, reductions and scans.
#pragma once

#include <cstdint>
#include <string>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

[[nodiscard]] KernelText NestKernel(const Program& program, const Nest& nest,
                                    const std::string& name, std::int64_t whole_row);

}  // namespace pragma::expert::triton
