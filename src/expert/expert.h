// The built-in expert: a Conductor and a Coder that need no language model. The Coder writes a
// kernel from the task's operator graph. The kernel's first lines record the choices that the Coder
// made, so a run is a function of its tree of attempts and can be resumed and replayed.
#pragma once

#include <memory>
#include <string_view>

#include "agent/roles.h"
#include "core/candidate.h"
#include "core/task.h"
#include "expert/ir/target.h"
#include "knowledge/entry.h"
#include "machine/machine.h"

namespace pragma::expert {

// The name of the expert on the command line: --model expert.
inline constexpr std::string_view kExpertModel = "expert";

// Returns the target for a machine. `clang` keeps its default, since only a build can find out.
[[nodiscard]] KernelTarget TargetOf(const Machine& machine);

[[nodiscard]] std::unique_ptr<Conductor> MakeExpertConductor(Compendium knowledge,
                                                             const KernelTarget& target);
[[nodiscard]] std::unique_ptr<Coder> MakeExpertCoder(const KernelTarget& target,
                                                     Language language = Language::kCpp);
// Returns whether the expert can write kernels in this language.
[[nodiscard]] constexpr bool ExpertWrites(Language language) {
  return language == Language::kCpp || language == Language::kTriton;
}

// Returns whether the expert knows every operator of the task's graph, in the form in which it is
// used there.
[[nodiscard]] bool ExpertKnows(const Task& task);

}  // namespace pragma::expert
