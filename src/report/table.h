// Table: formats rows for people, as wide as the terminal allows. Numbers are right-aligned.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/terminal.h"

namespace pragma {

// Returns lines of at most `width` columns, broken at spaces. A longer word is kept whole. If
// `width` is 0, the result is one line.
[[nodiscard]] std::vector<std::string> Wrapped(const std::string& text, std::size_t width);

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  bool shrinks = false;  // shrinks on a narrow terminal; the last such column first
};

struct Cell {
  std::string text;  // one line, safe to show
  Style style = Style::kPlain;
};

class Table final {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // `row` must have as many cells as there are columns.
  void Add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // Returns the title line, a rule and the rows, each with a newline. If there are no titles at
  // all, it returns only rows.
  [[nodiscard]] std::string Render(const Terminal& terminal) const;

 private:
  [[nodiscard]] std::vector<std::size_t> Widths(const Terminal& terminal) const;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Returns "name  value" lines for facts about one thing. Long values are wrapped, not cut.
[[nodiscard]] std::string RenderFacts(
    const Terminal& terminal, const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace pragma
