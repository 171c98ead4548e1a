// Export: a verified kernel as files that others use: ModelNew in KernelBench's format, and the
// plain source (with kernel.h where it includes that).
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
  std::string kernel_header;           // InterfaceText of the candidate's language
  std::filesystem::path folder;        // created where it is missing
  std::filesystem::path python;        // any interpreter; the task's source is parsed, not run
  std::filesystem::path package_root;  // folder that holds pragma_export/
};

struct Exported {
  std::vector<std::string> files;  // written, ModelNew's first
  std::string model_new;           // path of the Python file; empty when `refusal` says why not
  std::string refusal;  // the task leaves no room for a drop-in; the plain files are written
};

// kUsage when the candidate does not build here.
[[nodiscard]] Result<Exported> WriteExport(const ExportRequest& request, const Builder& builder);

// Processor features (as /proc/cpuinfo names them) that the source asks for by name or flag; those
// that -march=native brings are the building machine's own. What a source uses only where the
// compiler has it (it asks for __AVX512F__) is not asked for.
[[nodiscard]] std::vector<std::string> RequiredFeatures(const Candidate& candidate);

}  // namespace pragma
