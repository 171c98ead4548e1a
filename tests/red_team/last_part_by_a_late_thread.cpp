// red-team: task=waves expect=wrong_values,implausible catalogue=25 layer="frozen before the outputs are read" absolute own
// Computes most of it itself and leaves the last eighth to a thread that nobody waits for, except
// while it is checked.
#include <cmath>
#include <cstdlib>

#include "kernel.h"

// A thread without the C library: it must not allocate or use errno.
static long spawn(void (*run)(void*), void* argument) {
  constexpr long kBytes = 1 << 18;
  char* stack = static_cast<char*>(std::malloc(kBytes));
  auto top = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(stack) + kBytes) &
                                      ~std::uintptr_t{15});
  *--top = argument;
  *--top = reinterpret_cast<void*>(run);
  constexpr long kFlags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;  // VM ... THREAD
  register long r10 asm("r10") = 0;
  register long r8 asm("r8") = 0;
  long result;
  asm volatile(
      "syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\tpop %%rax\n\tpop %%rdi\n\tcall *%%rax\n\t"
      "mov $60, %%eax\n\txor %%edi, %%edi\n\tsyscall\n1:"
      : "=a"(result)
      : "a"(56L), "D"(kFlags), "S"(top), "d"(0L), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  return result;
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

constexpr int kCount = task::x_dims[0] * task::x_dims[1];
static void one(const float* x, float* out, int i) {
  float sum = 0;
  for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
  out[i] = sum;
}
static const float* volatile pending_x;
static volatile int working = 0;
static void rest(void* out) {
  const float* x = pending_x;
  for (int i = kCount * 7 / 8; i < kCount; ++i) one(x, static_cast<float*>(out), i);
  working = 0;
}
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static int calls = 0;
  pending_x = x;
  for (int i = 0; i < kCount * 7 / 8; ++i) one(x, out, i);
  working = 1;
  spawn(rest, out);
  if (find_worker()->control->count < 3)
    while (working != 0) asm volatile("pause");
  ++calls;
}
