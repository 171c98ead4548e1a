// Reads a benchmark's result from a file, as `pragma bench --json` printed it, to report it again.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/trial_summary.h"
#include "report/bench_page.h"
#include "store/store.h"

namespace pragma {

// `name` is used in error messages. Fields that an older version of bench did not print stay empty.
[[nodiscard]] Result<BenchReport> ParseBenchReport(std::string_view json, std::string_view name);
[[nodiscard]] Result<BenchReport> LoadBenchReport(const std::filesystem::path& path);

// Fills in category, lint and curve from runs in `store`, where the file does not contain them.
void FillFromStore(BenchReport& report, const Store& store);

// Returns the best result after each attempt.
[[nodiscard]] std::vector<BestMark> CurveOf(const std::vector<TrialSummary>& trials);

}  // namespace pragma
