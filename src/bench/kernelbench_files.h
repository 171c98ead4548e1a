// Implements --kernelbench-out: writes a benchmark's rows in KernelBench's folder layout.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace pragma {

struct BenchRow;

// Writes DIR/runs/NAME/ with the kernels, eval_results.json, pass_at_k_results.json and
// analysis.json, and DIR/results/timing/HARDWARE/ with the baselines. Returns the run folders.
// Existing files are replaced.
[[nodiscard]] Result<std::vector<std::string>> WriteKernelBench(const std::filesystem::path& folder,
                                                                std::span<const BenchRow> rows,
                                                                const std::string& hardware);

}  // namespace pragma
