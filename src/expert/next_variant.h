// Which variant of a kernel comes next: one that was not judged yet and differs in one choice from
// the version worked on, or a drawn one where nothing is shown to start from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/window.h"
#include "core/candidate.h"
#include "expert/plan/variant.h"

namespace pragma::expert {

// All choices of one kernel, with its values.
using ChoiceValues = std::map<std::string, int>;
[[nodiscard]] ChoiceValues ValuesOf(const std::vector<Choice>& choices);

// Of the expert's kernels in the window: what was judged already.
[[nodiscard]] std::vector<ChoiceValues> TriedValues(const Window& window);

// "chains=8: what the choice means": the nearest value of this choice that has not been tried with
// the others (`all`) as they are. None: all were.
[[nodiscard]] std::optional<std::string> UntriedChange(const Choice& choice,
                                                       const std::vector<Choice>& all,
                                                       const std::vector<ChoiceValues>& tried);
// Of any choice, in their order.
[[nodiscard]] std::optional<std::string> UntriedChange(const std::vector<Choice>& all,
                                                       const std::vector<ChoiceValues>& tried);

// Drawn at random from the choices of a default kernel, the same for the same attempt: independent
// samples, as a model without memory would give them.
[[nodiscard]] KernelVariant SampledVariant(const std::vector<Choice>& choices, int attempt);

}  // namespace pragma::expert
