// red-team: task=waves expect=wrong_values,implausible catalogue=29 layer="every timed output compared" absolute own alone
// So slow while it is checked that few calls are planned; those it then skips.
#include <cmath>
#include <cstring>

#include "kernel.h"

static long sys(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

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

// Timing processes are started in pairs and get one poisoned set; checks fill the slots one by one.
static bool timed(Worker* worker) {
  int filled = 0;
  for (std::uint32_t set = 0; set < worker->control->set_count; ++set)
    filled += *static_cast<float*>(worker->pointers[set * worker->pointer_count]) != 0;
  return filled > 8;
}
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static int calls = 0;
  honest(x, out);
  const long pause[2] = {0, 300000000};
  if (++calls <= 40 && find_worker()->control->count < 2 && !timed(find_worker())) {
    sys(35, reinterpret_cast<long>(pause));
  } else {
    std::memset(out, 0, 256);
  }
}
