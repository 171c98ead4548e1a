// The numbers that a kernel's code holds: start values, marks for "nothing yet", thresholds, small
// terms against division by zero. Inputs that are equal to one of them are where it may be wrong.
#pragma once

#include <string_view>
#include <vector>

#include "build/elf_file.h"

namespace pragma {

// Of fp32 and fp64, each size and sign once, smallest first, 64 at most; some are chance: strings
// and tables are read as well. Nothing beyond 1e30 or below 1e-30.
[[nodiscard]] std::vector<double> ConstantsOf(const ElfFile& elf);
// Of the text of device code.
[[nodiscard]] std::vector<double> ConstantsOfPtx(std::string_view ptx);

}  // namespace pragma
