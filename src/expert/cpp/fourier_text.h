// Writes Fourier transforms of lines (ir/program.h, Routine::Kind::kFourier) as C++: Stockham's
// algorithm with mixed radices, on as many lines at once as a vector register has elements.
// Source: C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7.
#pragma once

#include <string>

#include "core/task.h"
#include "expert/ir/program.h"
#include "expert/ir/target.h"

namespace pragma::expert {

// Returns the text, of which Run(x, result, scratch) transforms all lines. `dtype` is that of the
// real numbers, `parallel` the directive before the loop over the lines.
[[nodiscard]] std::string FourierText(const Routine& routine, DType dtype,
                                      const KernelTarget& target, const std::string& parallel);

}  // namespace pragma::expert
