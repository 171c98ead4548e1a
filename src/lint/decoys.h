// Decoys: wrong kernels that a task should be able to tell from the right one (docs/trust.md).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/task.h"

namespace pragma {

// The data of one input set that a decoy can use.
struct DecoyScene {
  const Task& task;
  std::span<const std::byte> arguments;  // the set's arguments, in PackedLayout
  std::span<const std::byte> native;     // Torch's own outputs, in PackedLayout
  // Torch's outputs and the arguments of the first set. Empty: this is the first set.
  std::span<const std::byte> first_native;
  std::span<const std::byte> first_arguments;
  // Computes Torch's own outputs for other arguments.
  std::function<Result<std::vector<std::byte>>(std::span<const std::byte>)> run;
  Rng& rng;
};

using DecoyOutputs = std::optional<std::vector<std::byte>>;  // nullopt: says nothing about the set

struct Decoy {
  std::string name;             // "zeros", "x unscaled", ...
  bool ignores_inputs = false;  // the decoy's outputs do not depend on the set's inputs
  // The only argument that the decoy changes, or empty. If the outputs do not differ, the task is
  // invariant to that change, as norms are to the size of their input.
  std::string argument;
  std::function<Result<DecoyOutputs>(const DecoyScene&)> make;
};

// Returns the decoys for a task. A decoy whose outputs do not really differ is not held against the
// task: for an operator that is invariant to the size of its input, or for a bias that a norm
// removes again. Cheap decoys come first; those that run the reference follow.
[[nodiscard]] std::vector<Decoy> DecoysFor(const Task& task);

}  // namespace pragma
