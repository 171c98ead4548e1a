// Writes a solution whose forward calls several kernels, with Torch's operators between them
// (docs/islands.md).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/task.h"
#include "export/writer.h"
#include "task/island_cut.h"

namespace pragma {

// A kernel for one island of a cut.
struct IslandKernel {
  IslandTask island;  // as it was cut
  Task task;          // as it was described
  std::string kernel_header;
  Candidate candidate;  // in C++; for a part of a whole model it may be in Triton
};

struct MixedRequest {
  const Task* task = nullptr;  // the whole
  const IslandOrder* order = nullptr;
  std::vector<const IslandKernel*> kernels;  // one for each island of the order, by its index
  std::filesystem::path python;              // any interpreter
  std::filesystem::path package_root;        // folder that contains pragma_export/
};

[[nodiscard]] Result<WrittenSolution> WriteMixed(const MixedRequest& request,
                                                 const Builder& builder);

}  // namespace pragma
