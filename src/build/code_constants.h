// The numbers in a kernel's code: start values, marks for "nothing yet", thresholds, small terms
// against division by zero. A kernel may be wrong for inputs that equal one of them.
#pragma once

#include <string_view>
#include <vector>

#include "build/elf_file.h"

namespace pragma {

// Reads the object's constant data as fp32 and as fp64. Returns at most 64 different numbers with
// absolute values between 1e-30 and 1e30. People write short numbers, so those with the fewest
// decimal digits come first. Strings and tables are read as well, so some of the numbers are
// meaningless.
[[nodiscard]] std::vector<double> ConstantsOf(const ElfFile& elf);
// Like ConstantsOf, for device code. PTX writes its constants as hexadecimal digits.
[[nodiscard]] std::vector<double> ConstantsOfPtx(std::string_view ptx);

}  // namespace pragma
