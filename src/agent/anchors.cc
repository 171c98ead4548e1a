#include "agent/anchors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/edit_check.h"

namespace pragma {
namespace {

constexpr std::array<std::string_view, 2> kBegin{"<<<IMPROVE BEGIN>>>", "<<<IMPROVE BEGINS>>>"};
constexpr std::array<std::string_view, 2> kEnd{"<<<IMPROVE END>>>", "<<<IMPROVE ENDS>>>"};
constexpr std::size_t kMostLines = 4000;  // per side; a comparison costs their product

bool Has(std::string_view line, const std::array<std::string_view, 2>& spellings) {
  return std::ranges::any_of(
      spellings, [&](std::string_view mark) { return line.find(mark) != std::string_view::npos; });
}

// Returns the lines that are not blank, trimmed.
std::vector<std::string> Essence(const std::vector<std::string>& lines) {
  std::vector<std::string> essence;
  for (const std::string& line : lines) {
    if (const std::string_view text = Trim(line); !text.empty()) essence.emplace_back(text);
  }
  if (essence.size() > kMostLines) essence.resize(kMostLines);
  return essence;
}

std::vector<std::string> Joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Counts the lines of `lines` that are missing from `text`, that is, those outside a longest common
// subsequence of both.
int Lost(const std::vector<std::string>& lines, const std::vector<std::string>& text) {
  std::vector<int> previous(text.size() + 1);
  std::vector<int> row(text.size() + 1);
  for (const std::string& line : lines) {
    for (std::size_t i = 0; i < text.size(); ++i)
      row[i + 1] = line == text[i] ? previous[i] + 1 : std::max(previous[i + 1], row[i]);
    std::swap(previous, row);
  }
  return static_cast<int>(lines.size()) - previous.back();
}

}  // namespace

AnchorReading ReadAnchors(std::string_view source) {
  AnchorReading reading;
  Anchored parts;
  int begins = 0;
  int ends = 0;
  for (std::string& line : SplitLines(source)) {
    if (Has(line, kBegin)) {
      ++begins;
      if (ends > 0) reading.problem = "the END marker comes before the BEGIN marker";
    } else if (Has(line, kEnd)) {
      ++ends;
    } else {
      (ends > 0 ? parts.after : begins > 0 ? parts.block : parts.before).push_back(std::move(line));
    }
  }
  if (begins != 1 || ends != 1)
    reading.problem =
        "it needs exactly one line with <<<IMPROVE BEGIN>>> and one with "
        "<<<IMPROVE END>>>";
  if (reading.problem.empty()) reading.anchored = std::move(parts);
  return reading;
}

std::string AdviceInBlock(const Anchored& anchored) {
  std::string advice;
  for (const std::string& line : anchored.block) {
    std::string_view text = Trim(line);
    const bool comment = text.starts_with("//") || text.starts_with('#');
    if (!comment || text.starts_with("#pragma") || text.starts_with("#include")) continue;
    while (!text.empty() && (text.front() == '/' || text.front() == '#')) text.remove_prefix(1);
    if (text = Trim(text); !text.empty()) advice += std::string(text) + "\n";
  }
  return advice;
}

std::optional<EditCheck> CompareEdit(std::string_view base, std::string_view anchored_source,
                                     std::string_view result) {
  const std::optional<Anchored> parts = ReadAnchors(anchored_source).anchored;
  if (!parts) return std::nullopt;
  const std::vector<std::string> outside = Essence(Joined(parts->before, parts->after));
  const std::vector<std::string> marked =
      Essence(Joined(Joined(parts->before, parts->block), parts->after));
  return EditCheck{.planner_lines = Lost(Essence(SplitLines(base)), marked),
                   .coder_lines = Lost(outside, Essence(SplitLines(result)))};
}

}  // namespace pragma
