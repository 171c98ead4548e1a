// Slices: neighbouring nests that treat each image of a batch separately run for a few images at a
// time. The data passed between them then stay in the caches and need no memory for the whole
// batch. Either all threads share a slice, or each thread takes images of its own through several
// convolutions and what is between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// How threads share the images that the iterations of a repeat treat separately.
struct Share {
  std::int64_t images = 1;
  std::int64_t at_once = 1;          // number of images that a thread takes; divides `images`
  std::map<int, std::int64_t> step;  // buffer -> elements per image
};

struct Slices {
  std::size_t first = 0;  // first and last nest, both included
  std::size_t last = 0;
  std::int64_t images = 1;
  std::int64_t at_once = 1;          // number of images per slice; divides `images`
  std::map<int, std::int64_t> step;  // buffers that differ from image to image -> elements per
                                     // image
  std::set<int> inside;              // buffers in `step` that only these nests use; memory holds
                                     // one slice of them
  bool in_turn = false;              // the slices are the iterations of a repeat instead of images
  std::optional<Share> share;        // of a repeat
  bool by_thread = false;            // each thread takes one image at a time through all nests
  // by_thread: the memory of the first thread's own buffers (`inside`) in the scratch memory, how
  // much each thread has, and where each buffer is in it, all in bytes. Known once memory is laid
  // out.
  std::size_t base = 0;
  std::size_t thread_bytes = 0;
  std::map<int, std::size_t> place;
};

// Finds the slices and reduces those nests and buffers to one slice. Repeats are included.
[[nodiscard]] std::vector<Slices> MakeSlices(Program& program, std::vector<Nest>& nests,
                                             const KernelTarget& target);

}  // namespace pragma::expert
