// NcuAdvice: what the rules of Nsight Compute say of a kernel, in its own words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

// From `--csv --page details`: of the launch that took longest the rules that estimate a gain of
// the whole kernel, the largest first, as "47 % (RuleName): description". Left out are rules that
// mislead: one about a compression that ordinary memory never has, and one that calls any busy unit
// a high throughput. Foreign text; what cannot be read is passed over.
[[nodiscard]] std::vector<std::string> ParseNcuAdvice(std::string_view csv, std::size_t at_most);

}  // namespace pragma
