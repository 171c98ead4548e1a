// Demangled: a C++ name in readable form.
#pragma once

#include <string>

namespace pragma {

// Returns a name that is not a mangled C++ name as it is. The result is shortened and has no
// invalid UTF-8.
[[nodiscard]] std::string Demangled(const std::string& name);

}  // namespace pragma
