// layers: task
// A description comes from a process that ran the task's code, so it may be anything. What is
// accepted must be sound enough for kernel.h and the layouts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "task/set_layout.h"
#include "task/torch_server.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto task = pragma::ParseTaskDescription({reinterpret_cast<const char*>(data), size});
  if (!task) return 0;
  static_cast<void>(pragma::KernelHeader(*task));
  static_cast<void>(pragma::PackedLayout(*task));
  static_cast<void>(pragma::ExpectedLayout(*task));
  return 0;
}
