// The built-in expert: a Conductor and a Coder that need no language model. The Coder writes a
// kernel from the task's operator graph; which choices it made stands in the kernel's first lines,
// so that a run is a function of its tree and can be resumed and replayed.
#pragma once

#include <memory>
#include <string_view>

#include "agent/roles.h"
#include "core/candidate.h"
#include "expert/ir/target.h"
#include "knowledge/entry.h"
#include "machine/machine.h"

namespace pragma::expert {

// How the command line names it: --model expert.
inline constexpr std::string_view kExpertModel = "expert";

// `clang` is left at its default: only a build knows.
[[nodiscard]] KernelTarget TargetOf(const Machine& machine);

[[nodiscard]] std::unique_ptr<Conductor> MakeExpertConductor(Compendium knowledge,
                                                             const KernelTarget& target);
[[nodiscard]] std::unique_ptr<Coder> MakeExpertCoder(const KernelTarget& target,
                                                     Language language = Language::kCpp);
// Whether it writes in this language.
[[nodiscard]] constexpr bool ExpertWrites(Language language) {
  return language == Language::kCpp || language == Language::kTriton;
}

}  // namespace pragma::expert
