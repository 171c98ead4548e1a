// red-team: task=scale expect=wrong_values catalogue=51 layer="version script" absolute no-timing
// Defines functions that the worker calls, so that they say what it likes; computes nothing.
#include "kernel.h"
extern "C" {
void* memcpy(void* to, const void*, std::size_t) { return to; }
long syscall(long, ...) { return 0; }
void* dlsym(void*, const char*) { return nullptr; }
int pragma_filter_run() { return 0; }
}
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out, (void)scratch;
}
