// Rows of a profiler's output: what the three output formats have in common once they are read.
// Inside src/profile only.
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

// One launch of a kernel (or one block, core, run): native names and their values.
struct AdapterRow {
  std::string kernel;
  std::map<std::string, AdapterCell> cells;
};

struct AdapterRows {
  std::vector<AdapterRow> rows;
  std::vector<std::string> problems;
};

// More is cut off, and said.
inline constexpr std::size_t kMostRows = 20000;

using NativeSet = std::set<std::string, std::less<>>;

// `wanted`: the native names that matter; others are passed over. None of them throws.
[[nodiscard]] AdapterRows ReadCsvRows(const AdapterOutput& output, const NativeSet& wanted,
                                      std::string_view text);
[[nodiscard]] AdapterRows ReadJsonRows(const AdapterOutput& output, const NativeSet& wanted,
                                       std::string_view text);
[[nodiscard]] AdapterRows ReadEventRows(const NativeSet& wanted, std::string_view text);

// One line of CSV; quotes are taken away.
[[nodiscard]] std::vector<std::string> SplitFields(std::string_view line, char separator);
// A whole number or real one, thousands separators taken out; nullopt for anything else.
[[nodiscard]] std::optional<double> ReadNumber(const AdapterOutput& output, std::string_view text);
// True for texts that stand for "no value".
[[nodiscard]] bool IsMissing(const AdapterOutput& output, std::string_view text);

}  // namespace pragma
