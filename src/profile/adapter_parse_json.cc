// Reads the JSON and JSON lines of profilers. The tool's name of a metric is a member of the row,
// or a path of members separated by dots.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/json_reader.h"
#include "profile/adapter.h"
#include "profile/adapter_rows.h"

namespace pragma {
namespace {

// Limit on the length of a line. Longer lines are not treated as rows.
constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

// Returns the member with this name or, if there is none, the value at the end of the path.
JsonReader At(const JsonReader& row, const std::string& name) {
  JsonReader whole = row[name];
  if (!whole.null() || name.find('.') == std::string::npos) return whole;
  JsonReader at = row;
  for (const std::string& step : Split(name, '.')) at = at[step];
  return at;
}

std::string TextOf(const JsonReader& value) {
  std::string text;
  if (value.type() == JsonReader::Type::kText) {
    value.Get(text);
  } else if (value.type() == JsonReader::Type::kInteger ||
             value.type() == JsonReader::Type::kReal) {
    text = value.Dump();
  }
  return text;
}

std::string TextOf(const JsonReader& row, const std::string& name) {
  return name.empty() ? std::string() : TextOf(At(row, name));
}

class Rows final {
 public:
  Rows(const AdapterOutput& output, const NativeSet& wanted) : output_(output), wanted_(wanted) {}

  void Read(const JsonReader& item) {
    AdapterRow& row = RowOf(item);
    if (const std::string kernel = TextOf(item, output_.kernel_column); !kernel.empty())
      row.kernel = kernel;
    if (!output_.name_column.empty()) {
      const std::string name = TextOf(item, output_.name_column);
      Add(row, name, TextOf(item, output_.value_column), TextOf(item, output_.unit_column));
    }
    for (const std::string& name : wanted_) {
      if (const std::string text = TextOf(item, name); !text.empty()) Add(row, name, text, {});
    }
  }

  AdapterRows Take() { return std::move(rows_); }
  [[nodiscard]] bool full() const { return rows_.rows.size() >= kMostRows; }

 private:
  AdapterRow& RowOf(const JsonReader& item) {
    const bool one = !output_.name_column.empty() && output_.row_column.empty();
    if (one || !output_.row_column.empty()) {
      const auto [found, fresh] =
          index_.try_emplace(TextOf(item, output_.row_column), rows_.rows.size());
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
  std::map<std::string, std::size_t> index_;
  AdapterRows rows_;
};

// Visits every row below `at`, following the path from `step` on.
void Walk(const JsonReader& at, const std::vector<std::string>& path, std::size_t step,
          Rows& rows) {
  if (rows.full()) return;
  if (step == path.size()) {
    if (at.type() == JsonReader::Type::kObject) rows.Read(at);
    return;
  }
  if (path[step] != "*") return Walk(at[path[step]], path, step + 1, rows);
  if (at.type() == JsonReader::Type::kArray) {
    for (const JsonReader& item : at.items()) Walk(item, path, step + 1, rows);
  } else if (at.type() == JsonReader::Type::kObject) {
    for (const auto& [name, item] : at.members()) Walk(item, path, step + 1, rows);
  }
}

void ReadLines(std::string_view text, Rows& rows) {
  for (const std::string& line : SplitLines(text)) {
    const std::string_view trimmed = Trim(line);
    if (!trimmed.starts_with('{') || trimmed.size() > kLongestLine || rows.full()) continue;
    const auto item = JsonReader::Parse(trimmed, "line");
    if (item && item->type() == JsonReader::Type::kObject) rows.Read(*item);
  }
}

}  // namespace

AdapterRows ReadJsonRows(const AdapterOutput& output, const NativeSet& wanted,
                         std::string_view text) {
  Rows rows(output, wanted);
  if (output.format == OutputFormat::kJsonLines) {
    ReadLines(text, rows);
  } else {
    const auto document = JsonReader::Parse(text, "output");
    if (!document) return {.rows = {}, .problems = {document.error().message}};
    Walk(*document,
         output.rows_path.empty() ? std::vector<std::string>() : Split(output.rows_path, '.'), 0,
         rows);
  }
  return rows.Take();
}

}  // namespace pragma
