#include "report/text_pool.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace pragma {

std::vector<std::uint32_t> TextPool::Add(std::string_view text) {
  std::vector<std::uint32_t> runs;
  for (const std::string& line : Split(text, '\n')) {
    const std::uint32_t at = IndexOf(line);
    if (!runs.empty() && runs[runs.size() - 2] + runs.back() == at) {
      ++runs.back();
    } else {
      runs.push_back(at);
      runs.push_back(1);
    }
  }
  return runs;
}

std::uint32_t TextPool::IndexOf(std::string_view line) {
  if (const auto found = index_.find(line); found != index_.end()) return found->second;
  const auto at = static_cast<std::uint32_t>(lines_.size());
  index_.emplace(lines_.emplace_back(line), at);
  return at;
}

}  // namespace pragma
