#include "report/text_pool.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace pragma {
namespace {

// Repeating a line of a few bytes ("}", an empty one) is cheaper than referring to it elsewhere.
constexpr std::size_t kShortLine = 16;

}  // namespace

std::vector<std::uint32_t> TextPool::Add(std::string_view text) {
  std::vector<std::uint32_t> runs;
  for (const std::string& line : Split(text, '\n')) {
    const auto known = latest_.find(line);
    const bool cheap = known == latest_.end() || line.size() < kShortLine;
    if (!runs.empty()) {
      const std::uint32_t next = runs[runs.size() - 2] + runs.back();
      const bool at_end = next == lines_.size();
      if (at_end ? cheap : lines_[next] == line) {
        if (at_end) Append(line);
        ++runs.back();
        continue;
      }
    }
    runs.push_back(known == latest_.end() ? Append(line) : known->second);
    runs.push_back(1);
  }
  return runs;
}

std::uint32_t TextPool::Append(std::string_view line) {
  const auto at = static_cast<std::uint32_t>(lines_.size());
  const std::string& kept = lines_.emplace_back(line);
  latest_.insert_or_assign(kept, at);
  return at;
}

}  // namespace pragma
