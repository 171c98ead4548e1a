// Word sets: what two names have in common, regardless of the order of their words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

// Returns the words of ASCII letters and digits in lower case, without a plural "s", sorted, each
// once.
[[nodiscard]] std::vector<std::string> WordSet(std::string_view text);
[[nodiscard]] std::size_t SharedWords(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b);

}  // namespace pragma
