#include "harness/instrumented_call.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "build/workshop.h"
#include "core/task.h"
#include "task/set_layout.h"
#include "task/torch_server.h"

namespace pragma {

Result<SharedMemory> DrawInstrumentedInputs(TorchServer& server) {
  const Task& task = server.task();
  const std::size_t set = PackedLayout(task).argument_bytes;
  const std::size_t bytes = set + task.dims.size() * sizeof(std::int64_t);
  SharedMemory inputs =
      TRY(SharedMemory::Create("pragma-instrumented", std::max<std::size_t>(bytes, 1)));
  TRY(server.Draw(Rng(SystemSeed())() >> 1U, inputs, 0));
  for (std::size_t i = 0; i < task.dims.size(); ++i) {
    std::memcpy(inputs.data() + set + i * sizeof(std::int64_t), &task.dims[i].value,
                sizeof(std::int64_t));
  }
  TRY(inputs.Seal(SealKind::kFutureWrites));
  return inputs;
}

InstrumentedCall InstrumentedCallOf(const Task& task, const BuiltKernel& kernel,
                                    const SharedMemory& inputs) {
  InstrumentedCall call{.argument_offsets = PackedLayout(task).argument_offsets,
                        .scratch_bytes = kernel.scratch_bytes,
                        .packed_bytes = kernel.packed_bytes,
                        .has_prepare = kernel.has_prepare,
                        .inputs = &inputs};
  if (!task.dims.empty()) {
    call.has_dims = true;
    call.first_parameter = 1;
    call.arguments.push_back(task.dims.size() * sizeof(std::int64_t));
    call.argument_offsets.insert(call.argument_offsets.begin(), PackedLayout(task).argument_bytes);
  }
  for (const TensorSpec& argument : task.arguments) {
    call.arguments.push_back(argument.bytes());
    if (argument.role == TensorRole::kInput) ++call.first_parameter;
  }
  for (const TensorSpec& output : task.outputs) {
    call.outputs.push_back(output.bytes());
    call.output_names.push_back(output.name);
  }
  return call;
}

}  // namespace pragma
