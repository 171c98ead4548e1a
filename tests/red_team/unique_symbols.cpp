// red-team: task=scale expect=wrong_values,rejected_source catalogue=51 layer="one process per candidate" absolute no-timing
// Keeps state in a symbol that all objects of a process would share.
#include "kernel.h"
template <class T>
struct Shared {
  static inline float kept[64 * 96];
  static inline bool filled = false;
};
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)scratch;
  using State = Shared<int>;
  for (int i = 0; i < 64 * 96; ++i) {
    if (!State::filled) State::kept[i] = gain[i % 96] * x[i] + shift[i % 96];
    out[i] = State::kept[i];
  }
  State::filled = true;
}
