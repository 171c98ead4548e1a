#include "build/text_insertion.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pragma {

std::string Insertions::Render(const std::vector<std::string>& lines, std::string_view tail) const {
  auto sorted = places_;
  std::ranges::stable_sort(sorted, {}, &std::pair<std::size_t, std::string>::first);
  std::string text;
  auto next = sorted.begin();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (; next != sorted.end() && next->first <= i; ++next) text += next->second;
    text += lines[i];
    text += '\n';
  }
  for (; next != sorted.end(); ++next) text += next->second;
  text += tail;
  return text;
}

}  // namespace pragma
