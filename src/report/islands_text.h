// What became of the islands of a task that no author could write whole (docs/islands.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/timing.h"
#include "report/terminal.h"

namespace pragma {

struct IslandRow {
  std::string name;                 // of the island's task
  std::string run;                  // id of its run; empty: it was not tried
  std::size_t operators = 0;        // how many it has
  double share = 0;                 // of the time of all operators, run one by one
  std::optional<Interval> speedup;  // of its kernel over eager
  std::string outcome;              // "kept", or why it is not
};

struct IslandRows {
  std::vector<IslandRow> islands;  // in execution order
  std::vector<std::string> left;   // operators that stay Torch's
};

// Formats the islands as a table, with the operators that stay Torch's and the share of the time
// that they take. It ends with a newline.
[[nodiscard]] std::string IslandsText(const Terminal& terminal, const IslandRows& rows);

}  // namespace pragma
