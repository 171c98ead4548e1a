#include "bench/kernelbench_files.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "bench/kernelbench.h"
#include "bench/row.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

Result<void> WriteRun(const fs::path& folder, const KernelBenchRun& run,
                      const std::string& hardware) {
  TRY(MakeDirectories(folder));
  for (const BenchRow* row : run.rows) {
    if (row->solution.empty()) continue;
    TRY(WriteFileAtomic(folder / SampleFileName(row->cell), row->solution));
  }
  TRY(WriteFileAtomic(folder / "eval_results.json", EvalResultsText(run, hardware)));
  TRY(WriteFileAtomic(folder / "pass_at_k_results.json", PassAtKText(run)));
  return WriteFileAtomic(folder / "analysis.json", AnalysisText(run, hardware));
}

}  // namespace

Result<std::vector<std::string>> WriteKernelBench(const fs::path& folder,
                                                  std::span<const BenchRow> rows,
                                                  const std::string& hardware) {
  std::vector<std::string> written;
  for (const KernelBenchRun& run : KernelBenchRuns(rows)) {
    const fs::path place = folder / "runs" / run.name;
    TRY(WriteRun(place, run, hardware));
    written.push_back(place.string());
  }
  const fs::path timing = folder / "results" / "timing" / AsFolderName(hardware);
  TRY(MakeDirectories(timing));
  for (const BaselineOf baseline : {BaselineOf::kEager, BaselineOf::kCompile}) {
    TRY(WriteFileAtomic(timing / (BaselineName(baseline) + ".json"),
                        BaselineText(rows, baseline, hardware)));
  }
  return written;
}

}  // namespace pragma
