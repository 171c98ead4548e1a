// KeptPlaces: the places where an object could keep data from one call to the next.
#pragma once

#include <string>
#include <vector>

#include "build/elf_file.h"

namespace pragma {

struct KeptPlaces {
  std::vector<std::string> words;  // "4 bytes of static data (count)", "allocated memory (malloc)"
  bool data_is_ours = false;       // true: the only writable data are those of the compiler's start
                                   // files
};

[[nodiscard]] KeptPlaces FindKeptPlaces(const ElfFile& elf);

}  // namespace pragma
