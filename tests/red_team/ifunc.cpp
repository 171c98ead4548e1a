// red-team: task=scale expect=rejected_source,compile_error catalogue=45 layer="ELF audit" absolute no-timing
// A resolver that runs while it is loaded.
#include "kernel.h"
extern "C" {
static int one() { return 1; }
using Function = int (*)();
static Function resolve() { return one; }
__attribute__((ifunc("resolve"))) int chosen();
}
extern "C" __attribute__((used)) Function keep() { return resolve(); }
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  if (scratch != nullptr) out[0] = chosen();
}
