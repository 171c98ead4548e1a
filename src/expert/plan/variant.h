// KernelVariant: the choices of one generated kernel that its task does not force. They are
// recorded in the kernel's first lines ("// pragma-expert: stream=1 SUM_COLUMNS=8", in Triton
// behind "#"), where the next attempt reads them. Choices that every kernel has are lower-case
// names; tunables appear under their own names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/candidate.h"

namespace pragma::expert {

struct KernelVariant {
  std::map<std::string, int> values;  // only values that differ from the default
  [[nodiscard]] int Get(std::string_view name) const;
  [[nodiscard]] std::string Text() const;  // "stream=1"; "default" if nothing differs
  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

// Parses words "name=value" with known names and values, or with names in capitals. Other words are
// ignored.
[[nodiscard]] KernelVariant VariantFromText(std::string_view text);
// Returns the variant of a kernel that the expert wrote, or nullopt for other kernels.
[[nodiscard]] std::optional<KernelVariant> VariantOf(const Candidate& candidate);
[[nodiscard]] std::string VariantLine(const KernelVariant& variant,
                                      Language language = Language::kCpp);

}  // namespace pragma::expert
