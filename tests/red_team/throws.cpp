// red-team: task=scale expect=crashed catalogue=35 layer="status is never evidence" absolute no-timing
// An exception through the C interface.
#include <stdexcept>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out;
  throw std::runtime_error("PASS");
}
