// red-team: task=scale expect=crashed catalogue=41 layer="limits" absolute no-timing
// Recursion without end.
#include "kernel.h"

__attribute__((noinline)) static float deep(int n) {
  volatile float room[1000];
  room[n % 1000] = n;
  return room[n % 1000] + deep(n + 1) + room[(n + 1) % 1000];
}
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift;
  out[0] = deep(1);
}
