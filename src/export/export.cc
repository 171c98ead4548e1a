#include "export/export.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/json_writer.h"
#include "core/task.h"
#include "export/writer.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// Returns the request that python/pragma_export/write.py reads.
std::string WriterRequest(const ExportRequest& request, const BuiltKernel& built) {
  const Task& task = *request.task;
  JsonWriter writer;
  writer.BeginObject().Field("name", task.name).Field("source", task.source);
  WriteTensors(writer, "arguments", task.arguments);
  WriteTensors(writer, "outputs", task.outputs);
  WriteOutputForm(writer, task);
  WriteMode(writer, task);
  WriteKernel(writer, *request.candidate, request.kernel_header, built);
  return writer.EndObject().Take();
}

// Next to ModelNew's file, the name "solution.py" would not be informative.
std::string SourceName(const Candidate& candidate) {
  return candidate.language == Language::kTriton ? "kernel.py" : candidate.files.begin()->first;
}

Result<void> WriteModelNew(const ExportRequest& request, const BuiltKernel& built,
                           Exported& exported) {
  const WrittenSolution written =
      TRY(RunWriter(request.python, request.package_root / "pragma_export" / "write.py",
                    WriterRequest(request, built)));
  exported.refusal = written.refusal;
  if (!written.refusal.empty()) return {};
  const fs::path file = request.folder / (request.task->name + "_new.py");
  TRY(WriteFileAtomic(file, written.text));
  exported.model_new = file.string();
  exported.files.insert(exported.files.begin(), exported.model_new);
  return {};
}

// A Python candidate is its own solution.
Result<Exported> WriteSolution(const ExportRequest& request) {
  TRY(MakeDirectories(request.folder));
  const fs::path file = request.folder / (request.task->name + "_new.py");
  TRY(WriteFileAtomic(file, request.candidate->source()));
  return Exported{.files = {file.string()}, .model_new = file.string()};
}

}  // namespace

Result<Exported> WriteExport(const ExportRequest& request, const Builder& builder) {
  if (request.candidate->language == Language::kPython) return WriteSolution(request);
  const BuiltKernel built = TRY(BuildForExport(*request.candidate, request.kernel_header, builder));
  TRY(MakeDirectories(request.folder));
  Exported exported;
  const std::string header = HeaderWithTunables(*request.candidate, request.kernel_header);
  std::vector<std::pair<std::string, const std::string*>> plain{
      {SourceName(*request.candidate), &request.candidate->source()}};
  if (request.candidate->language != Language::kTriton) plain.emplace_back("kernel.h", &header);
  for (const auto& [name, text] : plain) {
    const fs::path file = request.folder / name;
    TRY(WriteFileAtomic(file, *text));
    exported.files.push_back(file.string());
  }
  if (request.task->dims.empty()) {
    TRY(WriteModelNew(request, built, exported));
  } else {
    exported.refusal = "its sizes vary from call to call, which ModelNew cannot pass on yet";
  }
  return exported;
}

}  // namespace pragma
