#include "report/table.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/terminal.h"

namespace pragma {
namespace {

constexpr std::size_t kGap = 2;        // columns of space between two table columns
constexpr std::size_t kNarrowest = 8;  // a shrinking column stays readable
constexpr std::size_t kWidest = 100;   // a shrinking column is cut here if the width is unknown

std::string Padded(const Terminal& terminal, const Cell& cell, Align align, std::size_t width) {
  const std::string text = CutToWidth(terminal, cell.text, width);
  const std::string space(width - DisplayWidth(text), ' ');
  const std::string shown = Styled(terminal, cell.style, text);
  return align == Align::kRight ? space + shown : shown + space;
}

std::string WithoutTrailingSpace(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Rule(const Terminal& terminal, const std::vector<std::size_t>& widths) {
  const std::size_t total =
      std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kGap * (widths.size() - 1);
  std::string rule;
  for (std::size_t i = 0; i < total; ++i) rule += terminal.unicode ? "─" : "-";
  return Styled(terminal, Style::kDim, rule) + "\n";
}

}  // namespace

std::vector<std::string> Wrapped(const std::string& text, std::size_t width) {
  if (width == 0) return {text};
  std::vector<std::string> lines{""};
  for (const std::string& word : Split(text, ' ')) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (DisplayWidth(line) + 1 + DisplayWidth(word) <= width) {
      line += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::vector<std::size_t> Table::Widths(const Terminal& terminal) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = DisplayWidth(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[c].text));
    if (terminal.width == 0 && columns_[c].shrinks) width = std::min(width, kWidest);
    widths.push_back(width);
  }
  if (terminal.width == 0 || widths.empty()) return widths;
  std::size_t total =
      std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kGap * (widths.size() - 1);
  for (std::size_t c = columns_.size(); c-- > 0 && total > terminal.width;) {
    if (!columns_[c].shrinks || widths[c] <= kNarrowest) continue;
    const std::size_t cut = std::min(total - terminal.width, widths[c] - kNarrowest);
    widths[c] -= cut;
    total -= cut;
  }
  return widths;
}

std::string Table::Render(const Terminal& terminal) const {
  const std::vector<std::size_t> widths = Widths(terminal);
  const auto line = [&](const std::vector<Cell>& row) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) text.append(kGap, ' ');
      text += Padded(terminal, row[c], columns_[c].align, widths[c]);
    }
    return WithoutTrailingSpace(std::move(text)) + "\n";
  };
  std::string text;
  const bool titled =
      std::ranges::any_of(columns_, [](const Column& c) { return !c.title.empty(); });
  if (titled) {
    std::vector<Cell> titles;
    for (const Column& column : columns_) titles.push_back({column.title, Style::kBold});
    text = line(titles) + Rule(terminal, widths);
  }
  for (const auto& row : rows_) text += line(row);
  return text;
}

std::string RenderFacts(const Terminal& terminal,
                        const std::vector<std::pair<std::string, std::string>>& facts) {
  std::size_t names = 0;
  for (const auto& [name, value] : facts) names = std::max(names, DisplayWidth(name));
  const std::size_t left = names + kGap;
  const std::size_t room = terminal.width > left + kNarrowest ? terminal.width - left : 0;
  Table table({{}, {}});
  for (const auto& [name, value] : facts) {
    std::string shown = name;
    for (const std::string& line : Wrapped(value, room)) {
      table.Add({{std::exchange(shown, ""), Style::kDim}, {line}});
    }
  }
  return table.Render(terminal);
}

}  // namespace pragma
