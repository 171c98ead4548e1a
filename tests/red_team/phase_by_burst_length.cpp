// red-team: task=waves expect=wrong_values,implausible catalogue=20 layer="every timed output compared" absolute own
// Reads on the control page how many calls were ordered: checks order one, timing several.
#include <cmath>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

// worker/protocol.h and worker/worker.c: the kernel shares their address space.
struct Control {
  std::uint32_t magic, version, command, count, result, unused[11];
  std::uint32_t doorbell, pad1[15], done, pad2[15], sets[64];
  char message[512];
  std::uint32_t set_count;
};
struct Worker {
  Control* control;
  char *inputs, *outputs, *scratch;
  void (*kernel)();
  void (*prepare)();
  std::size_t pointer_count;
  void** pointers;
};

// The worker's own struct lies further up on the stack: it holds our address.
static Worker* find_worker() {
  static Worker* found = nullptr;
  if (found != nullptr) return found;
  const auto ours = reinterpret_cast<std::uintptr_t>(&pragma_kernel);
  auto word = static_cast<std::uintptr_t*>(__builtin_frame_address(0));
  for (;; ++word) {
    if (*word != ours || word[-4] % 4096 != 0 || word[-4] < 65536 || word[-4] >> 47 != 0) continue;
    auto control = reinterpret_cast<Control*>(word[-4]);
    if (control->magic == 0x414d4750u) return found = reinterpret_cast<Worker*>(word - 4);
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  if (find_worker()->control->count < 3) honest(x, out);
}
