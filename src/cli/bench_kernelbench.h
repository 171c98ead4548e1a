// --kernelbench-out: a benchmark's rows as KernelBench's folders.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/row.h"

namespace pragma {

// DIR/runs/NAME/ with kernels, eval_results.json, pass_at_k_results.json and analysis.json;
// DIR/results/timing/HARDWARE/ with the baselines. Returns the folders of runs. Files that are
// there are replaced.
[[nodiscard]] Result<std::vector<std::string>> WriteKernelBench(const std::filesystem::path& folder,
                                                                std::span<const BenchRow> rows,
                                                                const std::string& hardware);

}  // namespace pragma
