#include "cli/exporting.h"

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "export/export.h"
#include "report/terminal.h"

namespace pragma {

Result<ExportReport> ExportAndCheck(const Context& context, const Workbench& bench, TaskBench& task,
                                    const Candidate& candidate,
                                    const std::filesystem::path& folder) {
  const Exported exported = TRY(WriteExport({.task = &task.task(),
                                             .candidate = &candidate,
                                             .kernel_header = task.header(),
                                             .folder = folder,
                                             .python = context.paths.python,
                                             .package_root = context.paths.package_root()},
                                            bench.builder()));
  ExportReport report{.files = exported.files, .complaint = exported.refusal};
  if (exported.model_new.empty()) return report;
  report.complaint = TRY(task.server().CheckSolution(exported.model_new));
  report.checked = report.complaint.empty();
  return report;
}

std::string ExportText(const ExportReport& report) {
  std::string text;
  for (const std::string& file : report.files) text += "exported  " + file + "\n";
  return text + (report.checked ? "checked   ModelNew agrees with Model by KernelBench's rule\n"
                                : "no usable ModelNew: " + SafeLine(report.complaint) + "\n");
}

}  // namespace pragma
