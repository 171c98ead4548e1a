#define _GNU_SOURCE
#include "worker/cpu/scramble.h"

#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* Number of bytes of a dead stack that get random bytes. The stack below them is filled with
 * zeros. */
enum { kStackBytes = 1 << 20, kStackMargin = 1 << 16 };
enum { kRegisterBytes = 32 * 64 + 8 * 8 + 8 * 8 };

/* Bounds of the main thread's stack. The end is the lowest address that it may grow to. */
static uintptr_t main_stack_end;
static uintptr_t main_stack_top;

void scramble_fill(void* memory, size_t bytes, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  char* at = memory;
  while (bytes > 0) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    const uint64_t word = state * 0x2545f4914f6cdd1du;
    const size_t n = bytes < sizeof(word) ? bytes : sizeof(word);
    memcpy(at, &word, n);
    at += n;
    bytes -= n;
  }
}

void scramble_begin(void) {
  struct rlimit limit = {0, 0};
  getrlimit(RLIMIT_STACK, &limit);
  const size_t most = (size_t)64 << 20;
  const size_t bytes = limit.rlim_cur < most ? (size_t)limit.rlim_cur : most;
  main_stack_top = (uintptr_t)__builtin_frame_address(0);
  main_stack_end = main_stack_top - bytes + 4 * kStackMargin;
}

/* Scrambles the dead stack of the calling thread. `end` is its lowest usable address. */
static __attribute__((noinline)) void scramble_stack(uintptr_t end, uint32_t seed) {
  const uintptr_t top = (uintptr_t)__builtin_frame_address(0);
  if (top < end + 4 * kStackMargin) return;
  size_t bytes = top - end - 2 * kStackMargin;
  if (bytes > kStackBytes) {
    const uintptr_t page = 4096;
    const uintptr_t first = (end + page - 1) / page * page;
    const uintptr_t last = (top - kStackBytes - kStackMargin) / page * page;
    if (last > first) madvise((void*)first, last - first, MADV_DONTNEED);
    bytes = kStackBytes;
  }
  volatile char* area = alloca(bytes);
  scramble_fill((void*)area, bytes, seed ^ top);
  __asm__ volatile("" ::"r"(area) : "memory");
}

static void scramble_thread(void* data) {
  const uint32_t seed = *(const uint32_t*)data;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  void* end = NULL;
  size_t bytes = 0;
  pthread_attr_t attributes;
  /* The bounds of the main thread's stack are known already. pthread would read them from /proc,
   * which is not accessible. */
  const int is_main = here > main_stack_end && here < main_stack_top;
  if (!is_main && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &end, &bytes);
    pthread_attr_destroy(&attributes);
    scramble_stack((uintptr_t)end + kStackMargin, seed);
  }
  errno = (int)(seed >> 8);
}

void scramble_memory(uint32_t seed, const struct openmp* openmp) {
  openmp_everywhere(openmp, scramble_thread, &seed);
  scramble_stack(main_stack_end, seed);
  scramble_heap_seed = seed;
  errno = (int)(seed >> 8);
}

void scramble_end(void) { scramble_heap_seed = 0; }

#if defined(__x86_64__)
/* Scrambles the x87 environment, which has 28 bytes in the 32-bit protected-mode format. A
 * kernel could keep data in exception flags, condition codes and the pointers of the last
 * instruction. */
static void scramble_x87(const char* random) {
  uint32_t environment[7];
  __asm__ volatile("fnstenv %0" : "=m"(environment));
  uint32_t words[4];
  memcpy(words, random, sizeof(words));
  environment[1] = (environment[1] & 0xffff0000u) | (words[0] & 0x473fu);
  environment[2] |= 0xffffu; /* all registers are empty */
  environment[3] = words[1];
  environment[5] = words[2];
  __asm__ volatile(
      "movq 0(%1), %%mm0\n movq 8(%1), %%mm1\n movq 16(%1), %%mm2\n movq 24(%1), %%mm3\n"
      "movq 32(%1), %%mm4\n movq 40(%1), %%mm5\n movq 48(%1), %%mm6\n movq 56(%1), %%mm7\n"
      "emms\n fldenv %0"
      :
      : "m"(environment), "r"(random)
      : "memory");
}

static void scramble_gs(const char* random) {
  enum { kFsGsBase = 2 }; /* HWCAP2_FSGSBASE */
  if ((getauxval(AT_HWCAP2) & kFsGsBase) == 0) return;
  uint64_t base = 0;
  memcpy(&base, random, sizeof(base));
  base &= 0x00007fffffffffffu;
  __asm__ volatile("wrgsbase %0" : : "r"(base));
}

static void scramble_flags(const char* random) {
  uint32_t mode = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(mode));
  mode = (mode & ~0x3fu) | (*(const uint32_t*)random & 0x3fu); /* changes sticky flags only */
  __asm__ volatile("ldmxcsr %0" : : "m"(mode));
}

static __attribute__((target("avx512f,avx512bw"))) void load_avx512(const char* r) {
  __asm__ volatile(
      "vmovdqu64 0(%0), %%zmm0\n vmovdqu64 64(%0), %%zmm1\n vmovdqu64 128(%0), %%zmm2\n"
      "vmovdqu64 192(%0), %%zmm3\n vmovdqu64 256(%0), %%zmm4\n vmovdqu64 320(%0), %%zmm5\n"
      "vmovdqu64 384(%0), %%zmm6\n vmovdqu64 448(%0), %%zmm7\n vmovdqu64 512(%0), %%zmm8\n"
      "vmovdqu64 576(%0), %%zmm9\n vmovdqu64 640(%0), %%zmm10\n vmovdqu64 704(%0), %%zmm11\n"
      "vmovdqu64 768(%0), %%zmm12\n vmovdqu64 832(%0), %%zmm13\n vmovdqu64 896(%0), %%zmm14\n"
      "vmovdqu64 960(%0), %%zmm15\n vmovdqu64 1024(%0), %%zmm16\n vmovdqu64 1088(%0), %%zmm17\n"
      "vmovdqu64 1152(%0), %%zmm18\n vmovdqu64 1216(%0), %%zmm19\n vmovdqu64 1280(%0), %%zmm20\n"
      "vmovdqu64 1344(%0), %%zmm21\n vmovdqu64 1408(%0), %%zmm22\n vmovdqu64 1472(%0), %%zmm23\n"
      "vmovdqu64 1536(%0), %%zmm24\n vmovdqu64 1600(%0), %%zmm25\n vmovdqu64 1664(%0), %%zmm26\n"
      "vmovdqu64 1728(%0), %%zmm27\n vmovdqu64 1792(%0), %%zmm28\n vmovdqu64 1856(%0), %%zmm29\n"
      "vmovdqu64 1920(%0), %%zmm30\n vmovdqu64 1984(%0), %%zmm31\n"
      "kmovq 2048(%0), %%k0\n kmovq 2056(%0), %%k1\n kmovq 2064(%0), %%k2\n kmovq 2072(%0), %%k3\n"
      "kmovq 2080(%0), %%k4\n kmovq 2088(%0), %%k5\n kmovq 2096(%0), %%k6\n kmovq 2104(%0), %%k7\n"
      :
      : "r"(r)
      : "memory");
}

static __attribute__((target("avx"))) void load_avx(const char* r) {
  __asm__ volatile(
      "vmovdqu 0(%0), %%ymm0\n vmovdqu 64(%0), %%ymm1\n vmovdqu 128(%0), %%ymm2\n"
      "vmovdqu 192(%0), %%ymm3\n vmovdqu 256(%0), %%ymm4\n vmovdqu 320(%0), %%ymm5\n"
      "vmovdqu 384(%0), %%ymm6\n vmovdqu 448(%0), %%ymm7\n vmovdqu 512(%0), %%ymm8\n"
      "vmovdqu 576(%0), %%ymm9\n vmovdqu 640(%0), %%ymm10\n vmovdqu 704(%0), %%ymm11\n"
      "vmovdqu 768(%0), %%ymm12\n vmovdqu 832(%0), %%ymm13\n vmovdqu 896(%0), %%ymm14\n"
      "vmovdqu 960(%0), %%ymm15\n"
      :
      : "r"(r)
      : "memory");
}

void scramble_registers(uint32_t seed) {
  char random[kRegisterBytes];
  scramble_fill(random, sizeof(random), seed);
  scramble_x87(random);
  scramble_gs(random + 64);
  scramble_flags(random + 128);
  if (__builtin_cpu_supports("avx512bw")) {
    load_avx512(random);
  } else if (__builtin_cpu_supports("avx")) {
    load_avx(random);
  }
}
#else
void scramble_registers(uint32_t seed) { (void)seed; }
#endif
