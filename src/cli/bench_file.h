// A bench's result as a file: what `pragma bench --json` printed, read back for its report.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/trial_summary.h"
#include "report/bench_page.h"
#include "store/store.h"

namespace pragma {

// `name` stands in errors. What an older bench did not print stays empty.
[[nodiscard]] Result<BenchReport> ParseBenchReport(std::string_view json, std::string_view name);
[[nodiscard]] Result<BenchReport> LoadBenchReport(const std::filesystem::path& path);

// Category, lint and curve, where the file does not say them, of runs that `store` has.
void FillFromStore(BenchReport& report, const Store& store);

// The best after each attempt.
[[nodiscard]] std::vector<BestMark> CurveOf(const std::vector<TrialSummary>& trials);

}  // namespace pragma
