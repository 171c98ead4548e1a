// InputPool: secret input sets that are drawn after the build, and fresh sets made from them at
// copy speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {

class InputPool final {
 public:
  // Creates a pool with room for `draws` sets in PackedLayout(task).
  [[nodiscard]] static Result<InputPool> Create(const Task& task, std::size_t draws);

  // Draws set `index` again under `seed` by running the task's own get_inputs and constructor. Sets
  // are drawn in order at first, and perhaps not all of them: where time is short, the last ones
  // stay empty.
  [[nodiscard]] Result<void> Draw(TorchServer& server, std::size_t index, std::uint64_t seed);
  void NoteDrawn(std::size_t index);  // set `index` was written into memory()
  [[nodiscard]] std::size_t size() const { return draws_; }
  // Returns the number of sets that are not empty.
  [[nodiscard]] std::size_t drawn() const { return drawn_; }
  [[nodiscard]] const SharedMemory& memory() const { return memory_; }
  [[nodiscard]] std::size_t offset(std::size_t index) const { return index * set_bytes_; }
  [[nodiscard]] std::span<const std::byte> set(std::size_t index) const;

  // Writes a set that has never been used into `packed`. A set must be drawn. Floating tensors are
  // spliced from several draws at random boundaries. Each piece is multiplied by its own random
  // factor in [0.5, 1), and negated at random where the drawn data has both signs. Zeros,
  // triangles, ranges and signs that the task relies on therefore survive, and no value repeats.
  // Integers, booleans and constants are taken whole from one draw.
  void Splice(const Task& task, Rng& rng, std::span<std::byte> packed) const;
  // Like Splice, but for the task's inputs only.
  void SpliceInputs(const Task& task, Rng& rng, std::span<std::byte> packed) const;

 private:
  void SpliceTensor(const TensorSpec& tensor, std::size_t at, Rng& rng,
                    std::span<std::byte> packed) const;
  InputPool(SharedMemory memory, std::size_t draws, std::size_t set_bytes);
  SharedMemory memory_;
  std::size_t draws_;
  std::size_t drawn_ = 0;
  std::size_t set_bytes_;
};

}  // namespace pragma
