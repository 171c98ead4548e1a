// Writes a task's program as a Triton module: kernels, and run(), which launches them.
#pragma once

#include "core/task.h"
#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/plan/choices.h"
#include "expert/plan/variant.h"

namespace pragma::expert {

[[nodiscard]] WrittenKernel EmitTriton(const Task& task, Program program,
                                       const KernelVariant& variant,
                                       const KernelTarget& target = {});

}  // namespace pragma::expert
