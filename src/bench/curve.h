// CurvePoint: the state of a run after an attempt, with totals since its beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/status.h"

namespace pragma {

class SearchTree;

struct CurvePoint {
  int attempt = 0;
  Status status = Status::kTaskError;  // status of this attempt
  std::int64_t tokens = 0;
  double usd = 0;
  double seconds = 0;
  std::optional<double> best;  // speedup of the best so far against eager, as measured in the run
};
[[nodiscard]] std::vector<CurvePoint> CurveOf(const SearchTree& tree);

}  // namespace pragma
