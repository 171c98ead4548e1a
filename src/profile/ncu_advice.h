// NcuAdvice: what the rules of Nsight Compute say about a kernel, in its own words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

// Reads the output of `--csv --page details`. For the launch that took longest it returns the rules
// that estimate a gain for the whole kernel, the largest first, as "47 % (RuleName): description".
// Misleading rules are left out: one about a compression that ordinary memory never has, and one
// that calls any busy unit a high throughput. The text is untrusted, and unreadable parts are
// skipped.
[[nodiscard]] std::vector<std::string> ParseNcuAdvice(std::string_view csv, std::size_t at_most);

}  // namespace pragma
