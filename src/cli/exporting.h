// Exporting a kernel and checking the drop-in against the task: what optimize and export share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/workbench.h"
#include "core/candidate.h"

namespace pragma {

struct ExportReport {
  std::vector<std::string> files;
  bool checked = false;   // ModelNew was run against Model by KernelBench's rule, and agrees
  std::string complaint;  // why not, in one line
};

[[nodiscard]] Result<ExportReport> ExportAndCheck(const Context& context, const Workbench& bench,
                                                  TaskBench& task, const Candidate& candidate,
                                                  const std::filesystem::path& folder);
// For people; ends with a newline.
[[nodiscard]] std::string ExportText(const ExportReport& report);

}  // namespace pragma
