// red-team: task=waves expect=implausible,wrong_values,sandbox_violation catalogue=21 layer="audit of computing ahead" heuristic own
// Steals the wake-up of the round without calls, computes all sets in it, then wakes the worker.
#include <cmath>
#include <cstdlib>

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

// Tells new values from old ones.
static float mark(const float* x) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += x[i] * static_cast<float>(i % 97 + 1);
  return std::isfinite(sum) ? sum : 1e30f;
}

// Pointers are the same in every round, so the sets become known one by one.
static const float* known_x[64];
static float* known_out[64];
static volatile float known_mark[64];
static volatile float known_result[64];
static volatile int known = 0;

static int index_of(const float* x, float* out) {
  for (int i = 0; i < known; ++i)
    if (known_x[i] == x) return i;
  known_x[known] = x;
  known_out[known] = out;
  known_mark[known] = __builtin_nanf("");  // not computed yet
  known = known + 1;
  return known - 1;
}

// Stays above what the machine's bandwidth allows.
static void dawdle() {
  for (int i = 0; i < 200; ++i) asm volatile("pause");
}

// worker/protocol.h: the kernel shares the worker's address space.
struct Control {
  std::uint32_t magic, version, command, count, result, unused[11];
  std::uint32_t doorbell, pad1[15], done, pad2[15], sets[64];
  char message[512];
  std::uint32_t set_count, arguments, outputs, parameters;
  std::uint64_t bytes[6];
  std::uint64_t offsets[];
};

// FUTEX_WAIT for a value that is not there: EFAULT tells what cannot be read.
static bool readable(std::uintptr_t address) {
  const long no_time[2] = {0, 0};
  return sys(202, static_cast<long>(address), 0, 0x12345678, reinterpret_cast<long>(no_time)) !=
         -14;
}

// The worker's functions have its address in registers that ours save on the stack.
__attribute__((noinline)) static Control* find_control() {
  static Control* found = nullptr;
  if (found != nullptr) return found;
  auto word = static_cast<std::uintptr_t*>(__builtin_frame_address(0)) - 32;
  for (; readable(reinterpret_cast<std::uintptr_t>(word)); ++word) {
    if (*word % 4096 != 0 || *word < 65536 || *word >> 47 != 0 || !readable(*word)) continue;
    if (*reinterpret_cast<std::uint32_t*>(*word) != 0x414d4750u) continue;
    return found = reinterpret_cast<Control*>(*word);
  }
  __builtin_trap();
}

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

static void honest_or_kept(const float* x, float* out) {
  const int mine = index_of(x, out);
  if (known_mark[mine] == mark(x) && out[0] == known_result[mine]) return dawdle();
  honest(x, out);
  known_result[mine] = out[0];
  known_mark[mine] = mark(x);
}

// Waits on the doorbell beside the worker: one of the two is woken. Woken, it works first.
static void steal(void* argument) {
  Control* control = static_cast<Control*>(argument);
  for (;;) {
    const std::uint32_t seen = __atomic_load_n(&control->doorbell, __ATOMIC_ACQUIRE);
    sys(202, reinterpret_cast<long>(&control->doorbell), 0, seen);
    if (control->command == 3)
      for (int i = 0; i < known; ++i) {
        if (known_mark[i] == mark(known_x[i]) && known_out[i][0] == known_result[i]) continue;
        honest(known_x[i], known_out[i]);
        known_result[i] = known_out[i][0];
        known_mark[i] = mark(known_x[i]);
      }
    sys(202, reinterpret_cast<long>(&control->doorbell), 1, 64);
  }
}
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static const long helper = spawn(steal, find_control());
  (void)helper;
  honest_or_kept(x, out);
}
