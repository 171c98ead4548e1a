// Writes what is done with many small matrices (ir/program.h, Routine::Kind::kMatrices) as C++: one
// matrix after the other, in registers or the first cache, shared among the threads.
// Source: G. Golub and C. Van Loan, Matrix Computations, 4th edition, 2013, sections 3.1, 3.4, 4.2.
#pragma once

#include <string>

#include "core/task.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// Returns the text, of which Run(operands..., result, scratch) works on all matrices. `dtype` is
// that of the numbers, `parallel` the directive before the loop over the matrices.
[[nodiscard]] std::string MatrixText(const Routine& routine, DType dtype,
                                     const std::string& parallel);

}  // namespace pragma::expert
