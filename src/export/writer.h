// What the writers of solutions (python/pragma_export) have in common: how a kernel is described to
// them, and how they are run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/json_writer.h"
#include "core/task.h"

namespace pragma {

// Returns kernel.h with the candidate's tunables set. Our own build sets them on the command line
// instead.
[[nodiscard]] std::string HeaderWithTunables(const Candidate& candidate, const std::string& header);

// Returns the processor features (named as in /proc/cpuinfo) that the source requires by name or
// flag. Features that -march=native enables are those of the building machine. A feature that a
// source uses only if the compiler has it (tested with __AVX512F__) is not required.
[[nodiscard]] std::vector<std::string> RequiredFeatures(const Candidate& candidate);

// Builds the candidate, or returns kUsage if it does not build here. A Triton module is compiled
// where it is run, so there is nothing to build.
[[nodiscard]] Result<BuiltKernel> BuildForExport(const Candidate& candidate,
                                                 const std::string& header, const Builder& builder);

// Adds the fields of a kernel to the object that is open in `writer`.
void WriteKernel(JsonWriter& writer, const Candidate& candidate, const std::string& header,
                 const BuiltKernel& built);

// Adds the mode that ModelNew is for. It is empty where the module's results do not depend on it.
void WriteMode(JsonWriter& writer, const Task& task);
// The form of what forward returns, and what it changes.
void WriteOutputForm(JsonWriter& writer, const Task& task);

// Adds the fields of one tensor to the object that is open in `writer`.
void WriteTensor(JsonWriter& writer, const TensorSpec& tensor);
// Adds a field with an array of tensors.
void WriteTensors(JsonWriter& writer, std::string_view name,
                  const std::vector<TensorSpec>& tensors);

struct WrittenSolution {
  std::string text;     // of the Python file
  std::string refusal;  // in one line, why none can be written
};
// Runs a writer on the request. `python` is any interpreter; nothing of the task is run.
[[nodiscard]] Result<WrittenSolution> RunWriter(const std::filesystem::path& python,
                                                const std::filesystem::path& script,
                                                std::string request);

}  // namespace pragma
