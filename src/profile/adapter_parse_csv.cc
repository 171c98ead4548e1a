// Reads CSV as profilers write it: with output lines of the program in between, units in a row of
// their own, and thousands separators in numbers. The text is read line by line, so that a stray
// quote in the program's output cannot swallow what follows.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profile/adapter.h"
#include "profile/adapter_rows.h"

namespace pragma {
namespace {

using Fields = std::vector<std::string>;

// Returns the field that begins at `at`, and moves `at` past the field and its separator.
std::string NextField(std::string_view line, char separator, std::size_t& at) {
  std::string field;
  bool quoted = false;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (quoted && c == '"' && at + 1 < line.size() && line[at + 1] == '"') {
      field += c;
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      break;
    } else {
      field += c;
    }
  }
  ++at;
  return field;
}

std::optional<std::size_t> Column(const Fields& header, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

// Reads a table whose header is known.
class CsvTable final {
 public:
  CsvTable(const AdapterOutput& output, const NativeSet& wanted, Fields header)
      : output_(output), wanted_(wanted), header_(std::move(header)) {
    name_ = Column(header_, output.name_column);
    value_ = Column(header_, output.value_column);
    unit_ = Column(header_, output.unit_column);
    row_ = Column(header_, output.row_column);
    kernel_ = Column(header_, output.kernel_column);
  }

  // Returns the name of a required column that the header lacks, or an empty string if it lacks
  // none.
  [[nodiscard]] std::string Lack() const {
    const bool long_form = !output_.name_column.empty();
    if (long_form && !name_) return output_.name_column;
    if (long_form && !value_) return output_.value_column;
    return {};
  }

  void Units(const Fields& fields) { units_ = fields; }

  void Read(const Fields& fields) {
    if (fields.size() < header_.size()) return;  // output of the program, or a truncated line
    AdapterRow& row = RowOf(fields);
    if (kernel_) row.kernel = fields[*kernel_];
    for (std::size_t i = 0; i < header_.size(); ++i) {
      const std::string unit = i < units_.size() ? units_[i] : std::string();
      if (i != value_) Add(row, header_[i], fields[i], unit);
    }
    if (name_) Add(row, fields[*name_], fields[*value_], unit_ ? fields[*unit_] : std::string());
  }

  AdapterRows Take() { return std::move(rows_); }
  [[nodiscard]] bool full() const { return rows_.rows.size() >= kMostRows; }

 private:
  AdapterRow& RowOf(const Fields& fields) {
    const bool one = name_ && !row_;  // long form without a row column: all lines are one row
    const std::string key = row_ ? fields[*row_] : std::string();
    if (one || row_) {
      const auto [found, fresh] = index_.try_emplace(key, rows_.rows.size());
      if (!fresh) return rows_.rows[found->second];
    }
    return rows_.rows.emplace_back();
  }

  void Add(AdapterRow& row, const std::string& name, const std::string& text,
           const std::string& unit) {
    if (!wanted_.contains(name)) return;
    if (const auto value = ReadNumber(output_, text)) {
      row.cells[name] = {*value, unit};
    } else if (IsMissing(output_, text)) {
      rows_.problems.push_back(fmt::format("{}: {}", name, Trim(text)));
    }
  }

  const AdapterOutput& output_;
  const NativeSet& wanted_;
  Fields header_;
  Fields units_;
  std::optional<std::size_t> name_;
  std::optional<std::size_t> value_;
  std::optional<std::size_t> unit_;
  std::optional<std::size_t> row_;
  std::optional<std::size_t> kernel_;
  std::map<std::string, std::size_t> index_;
  AdapterRows rows_;
};

// Returns the lines that are neither empty nor comments.
std::vector<std::string> Lines(const AdapterOutput& output, std::string_view text) {
  std::vector<std::string> lines;
  for (std::string& line : SplitLines(text)) {
    if (line.ends_with('\r')) line.pop_back();
    const bool comment = !output.comment.empty() && line.starts_with(output.comment);
    if (!comment && !Trim(line).empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

Fields SplitFields(std::string_view line, char separator) {
  Fields fields;
  for (std::size_t at = 0; at <= line.size();) fields.push_back(NextField(line, separator, at));
  return fields;
}

bool IsMissing(const AdapterOutput& output, std::string_view text) {
  return std::ranges::find(output.missing, Trim(text)) != output.missing.end();
}

std::optional<double> ReadNumber(const AdapterOutput& output, std::string_view text) {
  std::string digits(Trim(text));
  std::erase_if(digits, [&](char c) { return output.thousands.find(c) != std::string::npos; });
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

AdapterRows ReadCsvRows(const AdapterOutput& output, const NativeSet& wanted,
                        std::string_view text) {
  const std::vector<std::string> lines = Lines(output, text);
  std::size_t at = 0;
  Fields header = output.columns;
  if (header.empty()) {
    while (at < lines.size() && !lines[at].starts_with(output.start)) ++at;
    if (at == lines.size()) return {.rows = {}, .problems = {"no header line in the output"}};
    header = SplitFields(lines[at++], output.separator);
  }
  CsvTable table(output, wanted, header);
  if (const std::string lack = table.Lack(); !lack.empty())
    return {.rows = {}, .problems = {"no column " + lack + " in the output"}};
  if (output.units_row && at < lines.size())
    table.Units(SplitFields(lines[at++], output.separator));
  while (at < lines.size() && !table.full()) table.Read(SplitFields(lines[at++], output.separator));
  AdapterRows rows = table.Take();
  if (at < lines.size()) rows.problems.push_back(fmt::format("only {} rows were read", kMostRows));
  return rows;
}

}  // namespace pragma
