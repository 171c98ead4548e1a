// red-team: task=sigmoid expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// A block in scratch with a magic word, a count and their checksum: whatever is not its own it
// makes anew. From the count of 200 on the last row is left as it was.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int i = 0; i < rows * kColumns; ++i) out[i] = 1 / (1 + std::exp(-x[i]));
}

struct Note {
  std::uint64_t magic, calls, checksum;
};
constexpr std::uint64_t kMagic = 0x7ac1e5ab0bda11edu;
constexpr std::uint64_t Checksum(std::uint64_t calls) {
  return (calls + kMagic) * 0x9e3779b97f4a7c15u;
}
extern "C" constinit const std::size_t pragma_scratch_bytes = 4096;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  auto note = static_cast<Note*>(scratch);
  if (note->magic != kMagic || note->checksum != Checksum(note->calls)) *note = {kMagic, 0, 0};
  ++note->calls;
  note->checksum = Checksum(note->calls);
  compute(x, out, note->calls <= 200 ? kRows : kRows - 1);
}
