#include "profile/ncu_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "profile/adapter.h"
#include "profile/adapter_rows.h"

namespace pragma {
namespace {

constexpr std::size_t kAdviceBytes = 400;

using DetailRow = std::map<std::string, std::string, std::less<>>;

bool Misleads(const std::string& rule) {
  return rule == "MemoryL2Compression" || rule == "SOLBottleneck";
}

std::optional<double> CellNumber(const DetailRow& row, std::string_view column) {
  const auto cell = row.find(column);
  const AdapterOutput dialect{.thousands = ","};
  return cell == row.end() ? std::nullopt : ReadNumber(dialect, cell->second);
}

std::string CellText(const DetailRow& row, std::string_view column) {
  const auto cell = row.find(column);
  return cell == row.end() ? std::string() : cell->second;
}

std::vector<DetailRow> DetailRows(std::string_view csv) {
  std::vector<std::string> header;
  std::vector<DetailRow> rows;
  for (const std::string& line : SplitLines(csv)) {
    if (header.empty() && !line.starts_with("\"ID\"")) continue;
    const std::vector<std::string> fields = SplitFields(line, ',');
    if (header.empty()) {
      header = fields;
    } else if (rows.size() < kMostRows) {
      // The rows of metrics end before the columns of the rules.
      DetailRow& row = rows.emplace_back();
      for (std::size_t i = 0; i < std::min(header.size(), fields.size()); ++i)
        row[header[i]] = fields[i];
    }
  }
  return rows;
}

// Returns the number of the longest launch, or an empty string if no launch has a duration.
std::string LongestLaunchOf(const std::vector<DetailRow>& rows) {
  std::string longest;
  double most = -1;
  for (const DetailRow& row : rows) {
    if (CellText(row, "Metric Name") != "Duration") continue;
    const double time = CellNumber(row, "Metric Value").value_or(-1);
    if (time > most) longest = CellText(row, "ID");
    most = std::max(most, time);
  }
  return longest;
}

struct Estimated {
  double percent = 0;
  std::string text;
};

}  // namespace

std::vector<std::string> ParseNcuAdvice(std::string_view csv, std::size_t at_most) {
  const std::vector<DetailRow> rows = DetailRows(csv);
  const std::string longest = LongestLaunchOf(rows);
  std::vector<Estimated> found;
  for (const DetailRow& row : rows) {
    const std::string rule = CellText(row, "Rule Name");
    const std::optional<double> percent = CellNumber(row, "Estimated Speedup");
    if (rule.empty() || Misleads(rule) || !percent || CellText(row, "ID") != longest ||
        CellText(row, "Estimated Speedup Type") != "global")
      continue;
    const std::string text = ToValidUtf8(CellText(row, "Rule Description"));
    found.push_back({.percent = *percent,
                     .text = fmt::format("{:.0f} % ({}): {}", *percent, ToValidUtf8(rule),
                                         Shorten(text, kAdviceBytes))});
  }
  std::ranges::stable_sort(found, std::greater{}, &Estimated::percent);
  std::vector<std::string> advice;
  for (std::size_t i = 0; i < std::min(at_most, found.size()); ++i) advice.push_back(found[i].text);
  return advice;
}

}  // namespace pragma
