// A program as a kernel: one C++ source text that implements the task's pragma_kernel.
#pragma once

#include <string>

#include "core/task.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/ir/program.h"
#include "expert/plan/variant.h"

namespace pragma::expert {

// What no nest has to do any more: unused steps, copies that only rearrange, matrices of scores.
// EmitKernel begins with it.
void Simplify(Program& program);
[[nodiscard]] std::string EmitKernel(const Task& task, Program program, const KernelTarget& target,
                                     const KernelVariant& variant);

}  // namespace pragma::expert
