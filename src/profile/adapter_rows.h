// The rows of a profiler's output: the common form of the three output formats once they are read.
// Private to src/profile.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/adapter.h"

namespace pragma {

struct AdapterCell {
  double value = 0;
  std::string unit;  // as the output names it; may be empty
};

// One launch of a kernel (or one block, core or run): the tool's metric names and their values.
struct AdapterRow {
  std::string kernel;
  std::map<std::string, AdapterCell> cells;
};

struct AdapterRows {
  std::vector<AdapterRow> rows;
  std::vector<std::string> problems;
};

// Limit on the rows. Further rows are cut off, and this is reported.
inline constexpr std::size_t kMostRows = 20000;

using NativeSet = std::set<std::string, std::less<>>;

// These functions read the rows of one format. `wanted` holds the tool's names that matter; others
// are skipped. None of them throws.
[[nodiscard]] AdapterRows ReadCsvRows(const AdapterOutput& output, const NativeSet& wanted,
                                      std::string_view text);
[[nodiscard]] AdapterRows ReadJsonRows(const AdapterOutput& output, const NativeSet& wanted,
                                       std::string_view text);
[[nodiscard]] AdapterRows ReadEventRows(const NativeSet& wanted, std::string_view text);

// Splits one line of CSV and removes the quotes.
[[nodiscard]] std::vector<std::string> SplitFields(std::string_view line, char separator);
// Parses an integer or a real number after removing thousands separators. Returns nullopt for
// anything else.
[[nodiscard]] std::optional<double> ReadNumber(const AdapterOutput& output, std::string_view text);
// Returns true for texts that mean "no value".
[[nodiscard]] bool IsMissing(const AdapterOutput& output, std::string_view text);

}  // namespace pragma
