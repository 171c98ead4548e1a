// Which variant of a kernel comes next: the one that was not judged yet and differs in one choice
// from the version worked on, or a drawn one where nothing is shown to start from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/window.h"
#include "expert/variant.h"

namespace pragma {

struct VariantChange {
  KernelVariant variant;
  std::string change;  // "chains=8"
  std::string why;     // what the choice means
};

// Of the expert's kernels in the window: the variants that were judged already.
[[nodiscard]] std::vector<KernelVariant> TriedVariants(const Window& window);

// One other value of the choice `name`, the nearest to the present one first. None: all were tried.
[[nodiscard]] std::optional<VariantChange> UntriedChange(const KernelVariant& base,
                                                         std::string_view name,
                                                         const std::vector<KernelVariant>& tried);
// Of any choice, in the order of Choices().
[[nodiscard]] std::optional<VariantChange> UntriedChange(const KernelVariant& base,
                                                         const std::vector<KernelVariant>& tried);

// The default for the first attempt; for the later ones drawn at random, the same for the same
// attempt: independent samples, as a model without memory would give them.
[[nodiscard]] KernelVariant SampledVariant(int attempt);

}  // namespace pragma
