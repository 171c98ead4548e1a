// Turns the rows of a profiler's output into our metrics.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/profile.h"
#include "profile/adapter.h"
#include "profile/adapter_rows.h"
#include "profile/formula.h"

namespace pragma {
namespace {

NativeSet Wanted(const Adapter& adapter) {
  NativeSet wanted;
  for (const std::string& name : NativeNames(adapter)) wanted.insert(name);
  wanted.insert(adapter.given.begin(), adapter.given.end());
  if (!adapter.output.largest_by.empty()) wanted.insert(adapter.output.largest_by);
  return wanted;
}

AdapterRows ReadRows(const Adapter& adapter, const NativeSet& wanted, std::string_view text) {
  switch (adapter.output.format) {
    case OutputFormat::kCsv: return ReadCsvRows(adapter.output, wanted, text);
    case OutputFormat::kEvents: return ReadEventRows(wanted, text);
    case OutputFormat::kJson:
    case OutputFormat::kJsonLines: break;
  }
  return ReadJsonRows(adapter.output, wanted, text);
}

// Joins rows by position: row i of `more` is merged into row i of `rows`.
void Complete(AdapterRows& rows, AdapterRows more) {
  rows.rows.resize(std::max(rows.rows.size(), more.rows.size()));
  for (std::size_t i = 0; i < more.rows.size(); ++i) {
    if (rows.rows[i].kernel.empty()) rows.rows[i].kernel = more.rows[i].kernel;
    rows.rows[i].cells.merge(more.rows[i].cells);
  }
  std::ranges::move(more.problems, std::back_inserter(rows.problems));
}

// Returns the value of the tool's metric in one row, converted to our unit.
std::optional<double> Native(const AdapterMetric& metric, const AdapterRow& row,
                             std::set<std::string>& unknown_units) {
  const auto cell = row.cells.find(metric.native);
  if (cell == row.cells.end()) return std::nullopt;
  if (metric.units.empty() || cell->second.unit.empty()) return cell->second.value * metric.factor;
  const auto factor = metric.units.find(cell->second.unit);
  if (factor != metric.units.end()) return cell->second.value * factor->second;
  unknown_units.insert(fmt::format("{} in {}", metric.native, cell->second.unit));
  return std::nullopt;
}

std::optional<double> ValueIn(const AdapterMetric& metric, const AdapterRow& row,
                              std::set<std::string>& unknown_units) {
  if (metric.formula.empty()) return Native(metric, row, unknown_units);
  const auto value = Evaluate(metric.formula, [&](const std::string& name) {
    const auto cell = row.cells.find(name);
    return cell == row.cells.end() ? std::nullopt : std::optional<double>(cell->second.value);
  });
  return value ? std::optional<double>(*value * metric.factor) : std::nullopt;
}

double Combine(RowChoice choice, const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  switch (choice) {
    case RowChoice::kSum: return sum;
    case RowChoice::kMean: return sum / static_cast<double>(values.size());
    case RowChoice::kMax: return std::ranges::max(values);
    case RowChoice::kLast: return values.back();
    case RowChoice::kCount: return static_cast<double>(values.size());
    case RowChoice::kFirst:
    case RowChoice::kLargest: break;
  }
  return values.front();
}

const AdapterRow* Largest(const std::vector<AdapterRow>& rows, const std::string& by) {
  const AdapterRow* largest = nullptr;
  double most = 0;
  for (const AdapterRow& row : rows) {
    const auto cell = row.cells.find(by);
    if (cell == row.cells.end() || (largest != nullptr && cell->second.value <= most)) continue;
    largest = &row;
    most = cell->second.value;
  }
  return largest;
}

std::optional<double> Aggregate(const Adapter& adapter, const AdapterMetric& metric,
                                const std::vector<AdapterRow>& rows,
                                std::set<std::string>& unknown_units) {
  const RowChoice choice = metric.choice.value_or(adapter.output.choice);
  if (choice == RowChoice::kLargest) {
    const AdapterRow* row = Largest(rows, adapter.output.largest_by);
    const auto value = row == nullptr ? std::nullopt : ValueIn(metric, *row, unknown_units);
    return value && std::isfinite(*value) ? value : std::nullopt;
  }
  std::vector<double> values;
  for (const AdapterRow& row : rows) {
    if (const auto value = ValueIn(metric, row, unknown_units)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  const double combined = Combine(choice, values);
  return std::isfinite(combined) ? std::optional<double>(combined) : std::nullopt;
}

// Appends the problem "what: a, b, c and 12 more", or nothing if there are no names.
void Tell(std::string_view what, const std::vector<std::string>& names,
          std::vector<std::string>& problems) {
  constexpr std::size_t kMost = 6;
  if (names.empty()) return;
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMost)));
  std::string text = fmt::format("{}: {}", what, Join(shown, ", "));
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  problems.push_back(Shorten(ToValidUtf8(text), 400));
}

// Returns each text once.
std::vector<std::string> Distinct(const std::vector<std::string>& texts) {
  std::vector<std::string> distinct;
  for (const std::string& text : texts) {
    if (std::ranges::find(distinct, text) == distinct.end()) distinct.push_back(text);
  }
  return distinct;
}

AdapterMetrics FromRows(const Adapter& adapter, const AdapterRows& read) {
  AdapterMetrics result;
  std::vector<std::string> absent;
  std::set<std::string> unknown_units;
  for (const AdapterMetric& metric : adapter.metrics) {
    const auto value = Aggregate(adapter, metric, read.rows, unknown_units);
    if (value) {
      result.metrics.push_back({metric.tag, *value, metric.unit, metric.source});
    } else {
      absent.push_back(metric.native.empty() ? metric.tag : metric.native);
    }
  }
  Tell("the tool says", Distinct(read.problems), result.problems);
  Tell("unknown units", {unknown_units.begin(), unknown_units.end()}, result.problems);
  Tell("not in the output", absent, result.problems);
  return result;
}

}  // namespace

AdapterMetrics ParseOutput(const Adapter& adapter, const std::vector<std::string>& texts,
                           std::string_view kernel) {
  const NativeSet wanted = Wanted(adapter);
  AdapterRows rows;
  for (const std::string& text : texts) {
    AdapterRows more = ReadRows(adapter, wanted, text);
    // The rows are filtered before they are joined, because not every file lists the same kernels.
    std::erase_if(more.rows, [&](const AdapterRow& row) {
      return !kernel.empty() && !row.kernel.empty() && row.kernel.find(kernel) == std::string::npos;
    });
    Complete(rows, std::move(more));
  }
  if (rows.rows.empty()) rows.problems.emplace_back("no row of the kernel in the output");
  return FromRows(adapter, rows);
}

AdapterMetrics ParseOutput(const Adapter& adapter, std::string_view text, std::string_view kernel) {
  return ParseOutput(adapter, std::vector<std::string>{std::string(text)}, kernel);
}

}  // namespace pragma
