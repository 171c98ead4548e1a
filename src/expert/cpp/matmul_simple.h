// Matrix products that need no packing: dot products of contiguous lines, sums of lines, and
// diagonal factors.
#pragma once

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_finish.h"
#include "expert/cpp/matmul_kernel.h"

namespace pragma::expert {

// Dot products: few rows (or columns), and both factors contiguous along the depth, so reading the
// factors once is all the work there is. The columns of c must be contiguous.
[[nodiscard]] bool SuitsDots(const MatmulSpec& spec);
[[nodiscard]] KernelText DotsKernel(const MatmulSpec& spec, const KernelTarget& target,
                                    const MatmulFinish& finish);
// Sums of lines: one row, and the other factor contiguous along the columns. The result is a
// weighted sum of that factor's lines.
[[nodiscard]] bool SuitsLines(const MatmulSpec& spec);
[[nodiscard]] KernelText LinesKernel(const MatmulSpec& spec, const KernelTarget& target,
                                     const MatmulFinish& finish);
[[nodiscard]] KernelText DiagonalKernel(const MatmulSpec& spec, const KernelTarget& target,
                                        bool swapped);

}  // namespace pragma::expert
