// Matrix products that need no packing: dot products of contiguous lines, sums of lines, and
// diagonal factors.
#pragma once

#include <string>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_finish.h"
#include "expert/cpp/matmul_kernel.h"

namespace pragma::expert {

// Few rows (or columns), and both factors contiguous along the depth: reading them once is all
// there is to do. Of a product whose columns of c are contiguous.
[[nodiscard]] bool SuitsDots(const MatmulSpec& spec);
[[nodiscard]] std::string DotsText(const MatmulSpec& spec, const KernelTarget& target,
                                   const MatmulFinish& finish);
// One row, and the other factor contiguous along the columns: a sum of its lines.
[[nodiscard]] bool SuitsLines(const MatmulSpec& spec);
[[nodiscard]] std::string LinesText(const MatmulSpec& spec, const KernelTarget& target,
                                    const MatmulFinish& finish);
[[nodiscard]] std::string DiagonalText(const MatmulSpec& spec, const KernelTarget& target,
                                       bool swapped);

}  // namespace pragma::expert
