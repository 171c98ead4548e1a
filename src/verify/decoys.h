// Decoys: wrong kernels that a task should be able to tell from the right one
// (docs/trust.md).
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

// What a decoy sees of one input set.
struct DecoyScene {
  const Task& task;
  std::span<const std::byte> arguments;  // PackedLayout
  std::span<const std::byte> native;     // Torch's own outputs, PackedLayout
  // Outputs and arguments of the first set; empty: this is the first.
  std::span<const std::byte> first_native;
  std::span<const std::byte> first_arguments;
  // Torch's own outputs of other arguments.
  std::function<Result<std::vector<std::byte>>(std::span<const std::byte>)> run;
  Rng& rng;
};

using DecoyOutputs = std::optional<std::vector<std::byte>>;  // nullopt: says nothing about the set

struct Decoy {
  std::string name;             // "zeros", "x unscaled", ...
  bool ignores_inputs = false;  // its outputs do not depend on the set's inputs
  std::string argument;         // changes this argument only: not differing is an invariance,
                                // of norms to the size of their input for one
  std::function<Result<DecoyOutputs>(const DecoyScene&)> make;
};

// What only looks different without being so is not condemned: of an operator that does not care
// for the size of its input, or for a bias that a norm takes away again. Cheap ones first; those
// that run the reference follow.
[[nodiscard]] std::vector<Decoy> DecoysFor(const Task& task);

}  // namespace pragma
