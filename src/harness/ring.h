// Ring: K input sets in shared memory, sealed so that no worker can write them, and the placement
// of every tensor, with guard pages round each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/shared_memory.h"
#include "core/task.h"

namespace pragma {

// Offsets in bytes. Sets with an odd number have their tensors as near to the end of a page as
// 64-byte alignment allows. The others have them at the start of one, and every second of these 64
// bytes behind it, where large blocks of malloc begin and so PyTorch's tensors: overruns at either
// end meet a guard page in one of them.
struct Placement {
  std::size_t sets = 0;
  std::vector<std::vector<std::size_t>> arguments;  // [set][argument], in the input memory
  std::vector<std::vector<std::size_t>> outputs;    // [set][output], in the output memory
  std::vector<std::size_t> dims;  // [set], of the sizes that vary, in the input memory; or empty
  std::vector<std::size_t> input_guards;  // pages nobody may touch
  std::vector<std::size_t> output_guards;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
};

[[nodiscard]] Placement PlaceRing(const Task& task, std::size_t sets);

class Ring final {
 public:
  // Sealed at once; only the mapping of this process stays writable.
  [[nodiscard]] static Result<Ring> Create(const Task& task, std::size_t sets);

  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] std::size_t sets() const { return placement_.sets; }
  [[nodiscard]] const SharedMemory& inputs() const { return inputs_; }
  // Copies one set, given in PackedLayout(task), into place.
  void Fill(const Task& task, std::size_t set, std::span<const std::byte> packed);
  // Reads every cache line of a set.
  void Touch(const Task& task, std::size_t set) const;

 private:
  Ring(Placement placement, SharedMemory inputs);
  Placement placement_;
  SharedMemory inputs_;
};

}  // namespace pragma
