#include "worker/load/pointer_call.h"

/* Macros for calls with many pointers. The candidate takes N pointers. The System V ABIs of
 * x86-64 and AArch64 let a caller pass more arguments than the callee takes: the caller cleans
 * up, and the location of the first arguments does not change. So the list is padded to the next
 * of these counts, and no code has to be generated per task. */
#define P1(p, i) (p)[i]
#define P4(p, i) P1(p, i), P1(p, (i) + 1), P1(p, (i) + 2), P1(p, (i) + 3)
#define P16(p, i) P4(p, i), P4(p, (i) + 4), P4(p, (i) + 8), P4(p, (i) + 12)
#define P64(p, i) P16(p, i), P16(p, (i) + 16), P16(p, (i) + 32), P16(p, (i) + 48)
#define P256(p, i) P64(p, i), P64(p, (i) + 64), P64(p, (i) + 128), P64(p, (i) + 192)
#define P1024(p) P256(p, 0), P256(p, 256), P256(p, 512), P256(p, 768)
#define V4 void*, void*, void*, void*
#define V16 V4, V4, V4, V4
#define V64 V16, V16, V16, V16
#define V256 V64, V64, V64, V64
typedef void (*call8)(V4, V4);
typedef void (*call16)(V16);
typedef void (*call64)(V64);
typedef void (*call256)(V256);
typedef void (*call1024)(V256, V256, V256, V256);

void pointer_call(void (*function)(void), void** p, size_t count) {
  switch (count) {
    case 8: ((call8)function)(P4(p, 0), P4(p, 4)); break;
    case 16: ((call16)function)(P16(p, 0)); break;
    case 64: ((call64)function)(P64(p, 0)); break;
    case 256: ((call256)function)(P256(p, 0)); break;
    default: ((call1024)function)(P1024(p)); break;
  }
}

size_t pointer_call_padded(size_t count) {
  const size_t sizes[] = {8, 16, 64, 256};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    if (count <= sizes[i]) return sizes[i];
  }
  return 1024;
}
