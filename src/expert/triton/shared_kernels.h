// Kernels that differ in their names alone. A deep network launches the same kernel on many layers;
// written once, it is compiled and tuned once.
#pragma once

#include <vector>

#include "expert/ir/program.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

// Makes each kernel that equals an earlier one a launch of that one: it takes its name, and its
// arguments in the order of that one's parameters.
void ShareKernels(const Program& program, std::vector<KernelText>& kernels);

}  // namespace pragma::expert::triton
