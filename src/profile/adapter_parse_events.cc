// Reads the two lines that matter in the files of cachegrind and callgrind: "events:" names the
// columns, and "summary:" holds their sums without trailing zeros.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "profile/adapter.h"
#include "profile/adapter_rows.h"

namespace pragma {
namespace {

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (std::string& word : Split(text, ' ')) {
    if (!Trim(word).empty()) words.emplace_back(Trim(word));
  }
  return words;
}

// Returns the words after the key on the last line that begins with it.
std::vector<std::string> WordsAfter(std::string_view text, std::string_view key) {
  std::vector<std::string> words;
  for (const std::string& line : SplitLines(text)) {
    if (line.starts_with(key)) words = WordsOf(std::string_view(line).substr(key.size()));
  }
  return words;
}

}  // namespace

AdapterRows ReadEventRows(const NativeSet& wanted, std::string_view text) {
  const std::vector<std::string> names = WordsAfter(text, "events:");
  const std::vector<std::string> values = WordsAfter(text, "summary:");
  if (names.empty() || values.empty())
    return {.rows = {}, .problems = {"no events: and summary: lines in the output"}};
  AdapterRows rows;
  AdapterRow& row = rows.rows.emplace_back();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!wanted.contains(names[i])) continue;
    const auto value = i < values.size() ? ReadNumber({}, values[i]) : 0.0;
    if (value) row.cells[names[i]] = {*value, {}};
  }
  return rows;
}

}  // namespace pragma
