#include "app/exporting.h"

#include <filesystem>
#include <string>
#include <string_view>

#include "app/context.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/file.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "export/export.h"
#include "report/terminal.h"
#include "task/torch_server.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

ExportRequest RequestFor(const AppContext& context, const TaskBench& task,
                         const Candidate& candidate, const std::filesystem::path& folder) {
  return {.task = &task.task(),
          .candidate = &candidate,
          .kernel_header = InterfaceText(task.task(), candidate.language),
          .folder = folder,
          .python = context.paths.python,
          .package_root = context.paths.package_root()};
}

}  // namespace

Result<ExportReport> ExportAndCheck(const AppContext& context, const Workbench& bench,
                                    TaskBench& task, const Candidate& candidate,
                                    const std::filesystem::path& folder) {
  const Exported exported = TRY(WriteUnchecked(context, bench, task, candidate, folder));
  ExportReport report{.files = exported.files, .complaint = exported.refusal};
  if (exported.model_new.empty()) return report;
  if (!RunsOnProcessor(candidate.language)) {
    report.untried = true;
    report.complaint =
        "not run: ModelNew of a kernel for a GPU is left to KernelBench's evaluator (or yours)";
    return report;
  }
  const std::string text = TRY(ReadFile(exported.model_new));
  const Evaluation judged = TRY(
      task.Evaluate(PythonCandidate(text), nullptr, Measure::kNothing, [](std::string_view) {}));
  report.checked = judged.passed();
  if (!report.checked) report.complaint = judged.reason;
  return report;
}

Result<Exported> WriteUnchecked(const AppContext& context, const Workbench& bench,
                                const TaskBench& task, const Candidate& candidate,
                                const std::filesystem::path& folder) {
  return WriteExport(RequestFor(context, task, candidate, folder), bench.builder());
}

Result<Solution> SolutionOf(const AppContext& context, const Workbench& bench,
                            const TaskBench& task, const Candidate& candidate) {
  return SolutionOf(context, bench, task.task(), task.header(), candidate);
}

Result<Solution> SolutionOf(const AppContext& context, const Workbench& bench, const Task& task,
                            const std::string& header, const Candidate& candidate) {
  if (candidate.language == Language::kPython) return Solution{.candidate = candidate};
  const TempDir folder = TRY(TempDir::Create());
  const Exported exported = TRY(WriteExport({.task = &task,
                                             .candidate = &candidate,
                                             .kernel_header = header,
                                             .folder = folder.path(),
                                             .python = context.paths.python,
                                             .package_root = context.paths.package_root()},
                                            bench.builder()));
  if (exported.model_new.empty()) return Solution{.refusal = exported.refusal};
  return Solution{.candidate = PythonCandidate(TRY(ReadFile(exported.model_new)))};
}

std::string ExportText(const ExportReport& report) {
  std::string text;
  for (const std::string& file : report.files) text += "exported  " + file + "\n";
  if (report.checked) return text + "checked   ModelNew agrees with Model\n";
  return text + (report.untried ? "" : "no usable ModelNew: ") + SafeLine(report.complaint) + "\n";
}

}  // namespace pragma
