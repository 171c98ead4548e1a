// Writes a program as a kernel: one C++ source that implements the task's pragma_kernel.
#pragma once

#include "core/task.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/ir/program.h"
#include "expert/plan/choices.h"
#include "expert/plan/variant.h"

namespace pragma::expert {

// Removes work that no nest needs to do: unused steps, copies that only rearrange, and matrices of
// attention scores. EmitKernel calls it first.
void Simplify(Program& program);
[[nodiscard]] WrittenKernel EmitKernel(const Task& task, Program program,
                                       const KernelTarget& target, const KernelVariant& variant);

}  // namespace pragma::expert
