// honest: task=ranks
// Remembers whole inputs and their results. It is right whatever comes, and since no input comes
// twice in timed calls it gains nothing: it takes the time that it would take in use.
#include <cstring>

#include "kernel.h"

constexpr int kCount = task::x_dims[0];

static void honest(const std::int64_t* x, std::int64_t* out) {
  for (int i = 0; i < kCount; ++i) {
    std::int64_t smaller = 0;
    for (int j = 0; j < kCount; ++j) smaller += x[j] < x[i];
    out[i] = smaller;
  }
}

extern "C" void pragma_kernel(const std::int64_t* x, std::int64_t* out, void* scratch) {
  struct Entry {
    std::int64_t input[kCount], result[kCount];
  };
  static Entry entries[64];
  static int used = 0;
  for (int i = 0; i < used; ++i) {
    if (std::memcmp(entries[i].input, x, sizeof(entries[i].input)) != 0) continue;
    std::memcpy(out, entries[i].result, sizeof(entries[i].result));
    return;
  }
  honest(x, out);
  Entry& entry = entries[used++ % 64];
  std::memcpy(entry.input, x, sizeof(entry.input));
  std::memcpy(entry.result, out, sizeof(entry.result));
}
