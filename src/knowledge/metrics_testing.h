// The metrics of this repository, for tests.
#pragma once

#include "core/metric_table.h"
#include "knowledge/metric_file.h"

namespace pragma {

inline MetricTable ShippedMetrics() { return LoadMetrics(PRAGMA_SOURCE_DIR "/knowledge").value(); }

}  // namespace pragma
