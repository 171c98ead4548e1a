// Describes the verified kernels of a model's parts to the packer (python/pragma_model/pack.py),
// which makes operators of Torch of them (docs/whole-models.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/device.h"
#include "core/task.h"
#include "export/mixed.h"
#include "task/island_cut.h"
#include "task/whole_model_server.h"

namespace pragma {

// What computes one part of a model: one kernel for all of it, or several with Torch's operators
// between them.
struct PartKernels {
  Task task;
  std::vector<IslandKernel> kernels;
  IslandOrder order;
  bool whole = true;  // one kernel computes the task, and `order` only calls it
};

// Returns the kernels of a part that one kernel computes whole.
[[nodiscard]] PartKernels WholePart(const Task& task, const std::string& kernel_header,
                                    const Candidate& candidate);

struct PackedPart {
  std::string name;  // of the unit: "u1"
  const ModelPart* part = nullptr;
  const PartKernels* kernels = nullptr;
};

struct PackageRequest {
  std::string model;
  int threads = 1;               // for which kernels in C++ are
  std::optional<Device> device;  // on which kernels in Triton run; nothing: the processor
  std::vector<PackedPart> parts;
};

// Returns the packer's request, as a JSON object. Fails with kUsage if a kernel does not build.
[[nodiscard]] Result<std::string> PackageText(const PackageRequest& request,
                                              const Builder& builder);

}  // namespace pragma
