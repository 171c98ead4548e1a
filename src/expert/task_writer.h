// TaskWriter: what the expert can write for one task. A kernel is a function of the task, the
// processor and the variant, and so are the choices that it leaves open.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/candidate.h"
#include "core/task.h"
#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/plan/choices.h"
#include "expert/plan/variant.h"

namespace pragma::expert {

class TaskWriter final {
 public:
  TaskWriter(const Task& task, const KernelTarget& target);

  // Returns the kernel. The error names an operator that the expert does not know.
  [[nodiscard]] Result<WrittenKernel> Write(Language language, const KernelVariant& variant) const;

  // Returns the choices that a kernel of the expert leaves open, in the order in which they are
  // tried when nothing points at another. Returns none for kernels of other authors. A choice that
  // the processor's compilers cannot carry out has only its present value.
  [[nodiscard]] std::vector<Choice> OpenChoices(const Candidate& candidate) const;

 private:
  const Task& task_;
  KernelTarget target_;
  Result<Program> program_;
};

}  // namespace pragma::expert
