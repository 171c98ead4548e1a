// Ring: K input sets in shared memory and the placement of every tensor, with guard pages before
// and after each. The memory is sealed so that no worker can write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/shared_memory.h"
#include "core/task.h"

namespace pragma {

// Where every tensor is placed; all offsets are in bytes. In sets with an odd number, each tensor
// is as close to the end of a page as 64-byte alignment allows. In the other sets, each tensor
// begins at the start of a page or, in every second one, 64 bytes behind it. Large malloc blocks,
// and so PyTorch's tensors, begin 64 bytes behind the start of a page. Overruns at either end
// therefore hit a guard page in at least one of the sets.
struct Placement {
  std::size_t sets = 0;
  std::vector<std::vector<std::size_t>> arguments;  // [set][argument], offset in the input memory
  std::vector<std::vector<std::size_t>> outputs;    // [set][output], offset in the output memory
  std::vector<std::size_t> dims;  // [set], offset of the sizes that vary, in input memory; or empty
  std::vector<std::size_t> input_guards;  // offsets of pages that no process may touch
  std::vector<std::size_t> output_guards;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
};

[[nodiscard]] Placement PlaceRing(const Task& task, std::size_t sets);

class Ring final {
 public:
  // Creates the memory and seals it at once. Only this process's mapping stays writable.
  [[nodiscard]] static Result<Ring> Create(const Task& task, std::size_t sets);

  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] std::size_t sets() const { return placement_.sets; }
  [[nodiscard]] const SharedMemory& inputs() const { return inputs_; }
  // Copies one set, given in PackedLayout(task), to its place in the ring.
  void Fill(const Task& task, std::size_t set, std::span<const std::byte> packed);
  // Reads every cache line of a set.
  void Touch(const Task& task, std::size_t set) const;

 private:
  Ring(Placement placement, SharedMemory inputs);
  Placement placement_;
  SharedMemory inputs_;
};

}  // namespace pragma
