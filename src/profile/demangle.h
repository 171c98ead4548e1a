// Demangled: a C++ name as people read it.
#pragma once

#include <string>

namespace pragma {

// The name itself where it is none of C++'s; shortened, without bytes that are no UTF-8.
[[nodiscard]] std::string Demangled(const std::string& name);

}  // namespace pragma
