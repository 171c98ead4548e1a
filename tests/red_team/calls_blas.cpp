// red-team: task=product expect=rejected_source catalogue=15 layer="symbol allow-list" absolute no-timing
// The product by a library.
#include "kernel.h"

extern "C" void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*,
                            int, float, float*, int);
extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  cblas_sgemm(101, 111, 111, task::a_dims[0], task::b_dims[1], task::a_dims[1], 1, a,
              task::a_dims[1], b, task::b_dims[1], 0, out, task::b_dims[1]);
}
