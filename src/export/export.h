// Export: writes a verified kernel as files for use outside pragma: ModelNew in KernelBench's
// format, and the plain source (with kernel.h if the source includes it).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {

struct ExportRequest {
  const Task* task = nullptr;
  const Candidate* candidate = nullptr;
  std::string kernel_header;           // InterfaceText for the candidate's language
  std::filesystem::path folder;        // created if it does not exist
  std::filesystem::path python;        // any interpreter; the task's source is parsed, not run
  std::filesystem::path package_root;  // folder that contains pragma_export/
};

struct Exported {
  std::vector<std::string> files;  // written files, ModelNew's first
  std::string model_new;           // path of the Python file; empty: `refusal` says why
  std::string refusal;  // why the task allows no drop-in; the plain files are still written
};

// Returns kUsage if the candidate does not build here.
[[nodiscard]] Result<Exported> WriteExport(const ExportRequest& request, const Builder& builder);

}  // namespace pragma
