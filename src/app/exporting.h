// Exports a kernel and checks its drop-in replacement against the task. optimize and export share
// this.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "core/candidate.h"
#include "export/export.h"

namespace pragma {

struct ExportReport {
  std::vector<std::string> files;
  bool checked = false;   // ModelNew was judged as any Python candidate, and agrees with Model
  bool untried = false;   // it was written, but we cannot run it: `complaint` says why
  std::string complaint;  // one line: why it was not checked or not tried
};

[[nodiscard]] Result<ExportReport> ExportAndCheck(const AppContext& context, const Workbench& bench,
                                                  TaskBench& task, const Candidate& candidate,
                                                  const std::filesystem::path& folder);
// Writes the same files without running anything of them.
[[nodiscard]] Result<Exported> WriteUnchecked(const AppContext& context, const Workbench& bench,
                                              const TaskBench& task, const Candidate& candidate,
                                              const std::filesystem::path& folder);
// A kernel as a Python candidate.
struct Solution {
  std::optional<Candidate> candidate;
  std::string refusal;  // why there is none
};
// Returns ModelNew of a candidate, as export writes it. A Python candidate already is its own
// solution.
[[nodiscard]] Result<Solution> SolutionOf(const AppContext& context, const Workbench& bench,
                                          const TaskBench& task, const Candidate& candidate);
// Returns ModelNew for a task that is not open. `header` is the task's kernel.h.
[[nodiscard]] Result<Solution> SolutionOf(const AppContext& context, const Workbench& bench,
                                          const Task& task, const std::string& header,
                                          const Candidate& candidate);
// Formats the report for people. It ends with a newline.
[[nodiscard]] std::string ExportText(const ExportReport& report);

}  // namespace pragma
