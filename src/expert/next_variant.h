// Chooses the next variant of a kernel. It is one that has not been judged yet and differs in one
// choice from the version worked on, or a random one where there is no version to start from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/window.h"
#include "core/candidate.h"
#include "expert/plan/choices.h"
#include "expert/plan/variant.h"
#include "expert/task_writer.h"

namespace pragma::expert {

// The values of all choices of one kernel.
using ChoiceValues = std::map<std::string, int>;
[[nodiscard]] ChoiceValues ValuesOf(const std::vector<Choice>& choices);

// Returns the values of the expert's kernels in the window that have already been judged.
[[nodiscard]] std::vector<ChoiceValues> TriedValues(const Window& window, const TaskWriter& writer);

// Returns a change such as "chains=8: what the choice means". It is the nearest value of this
// choice that has not been tried while the other choices (`all`) stay as they are. Returns nullopt
// where all values have been tried.
[[nodiscard]] std::optional<std::string> UntriedChange(const Choice& choice,
                                                       const std::vector<Choice>& all,
                                                       const std::vector<ChoiceValues>& tried);
// Returns the first untried change of any choice, in their order.
[[nodiscard]] std::optional<std::string> UntriedChange(const std::vector<Choice>& all,
                                                       const std::vector<ChoiceValues>& tried);

// Draws a variant at random from the choices of a default kernel. The same attempt gives the same
// variant. Samples are independent, as from a model without memory.
[[nodiscard]] KernelVariant SampledVariant(const std::vector<Choice>& choices, int attempt);

}  // namespace pragma::expert
