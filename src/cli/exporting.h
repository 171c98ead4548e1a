// Exporting a kernel and checking the drop-in against the task: what optimize and export share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/workbench.h"
#include "core/candidate.h"

namespace pragma {

struct ExportReport {
  std::vector<std::string> files;
  bool checked = false;   // ModelNew was judged as any Python candidate is, and agrees with Model
  bool untried = false;   // it stands, and cannot be run by us: `complaint` says why
  std::string complaint;  // why not, in one line
};

[[nodiscard]] Result<ExportReport> ExportAndCheck(const Context& context, const Workbench& bench,
                                                  TaskBench& task, const Candidate& candidate,
                                                  const std::filesystem::path& folder);
// A kernel as a Python candidate.
struct Solution {
  std::optional<Candidate> candidate;
  std::string refusal;  // why there is none
};
// ModelNew of a candidate as export writes it; a Python candidate is one already.
[[nodiscard]] Result<Solution> SolutionOf(const Context& context, const Workbench& bench,
                                          const TaskBench& task, const Candidate& candidate);
// The same of a task that is not open: `header` is its kernel.h.
[[nodiscard]] Result<Solution> SolutionOf(const Context& context, const Workbench& bench,
                                          const Task& task, const std::string& header,
                                          const Candidate& candidate);
// For people; ends with a newline.
[[nodiscard]] std::string ExportText(const ExportReport& report);

}  // namespace pragma
