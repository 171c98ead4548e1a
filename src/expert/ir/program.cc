#include "expert/ir/program.h"

#include <cstddef>
#include <vector>

#include "core/task.h"

namespace pragma::expert {

bool IsArgFold(Fold fold) { return fold == Fold::kArgMin || fold == Fold::kArgMax; }

bool IsPosition(const Step& step) { return step.kind == Step::Kind::kFold && IsArgFold(step.fold); }

std::vector<int> OutputBuffers(const Task& task, const Program& program) {
  std::vector<int> outputs;
  for (const TensorSpec& output : task.outputs) {
    int found = -1;
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
      if (program.buffers[i].kind == Buffer::Kind::kOutput &&
          program.buffers[i].name == output.name)
        found = static_cast<int>(i);
    outputs.push_back(found);
  }
  return outputs;
}

}  // namespace pragma::expert
