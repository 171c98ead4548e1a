// CodeText: what a piece of C++ text looks like, without compiling it. Private to this folder.
#pragma once

#include <string_view>

namespace pragma {

// Returns whether every bracket, comment and literal of the text is closed. A part of a file often
// is not whole.
[[nodiscard]] bool IsWhole(std::string_view code);

// Returns whether the text defines a function of that name. A declaration or a call does not count.
[[nodiscard]] bool DefinesFunction(std::string_view code, std::string_view name);

}  // namespace pragma
