// The numbers that a kernel's code holds: start values, marks for "nothing yet", thresholds, small
// terms against division by zero. Inputs that are equal to one of them are where it may be wrong.
#pragma once

#include <string_view>
#include <vector>

#include "build/elf_file.h"

namespace pragma {

// Reads the object's constant data as fp32 and as fp64. Returns at most 64 different numbers whose
// sizes lie between 1e-30 and 1e30. Strings and tables are read as well, so some of the numbers
// mean nothing. People write short numbers: those with the fewest decimal digits come first.
[[nodiscard]] std::vector<double> ConstantsOf(const ElfFile& elf);
// The same for device code, whose constants stand in its PTX as hexadecimal digits.
[[nodiscard]] std::vector<double> ConstantsOfPtx(std::string_view ptx);

}  // namespace pragma
