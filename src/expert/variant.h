// KernelVariant: the choices of one generated kernel that are not forced by its task. They stand in
// the kernel's first lines ("// pragma-expert: columns=4 stream=1"), where the next attempt reads
// them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"

namespace pragma {

struct Choice {
  std::string name;
  int otherwise = 0;
  std::vector<int> values;  // all that make sense, the default among them
  std::string meaning;      // for people: "vectors side by side where a fold runs down columns"
};
// In the order in which they are tried when nothing points at another.
[[nodiscard]] const std::vector<Choice>& Choices();
[[nodiscard]] const Choice& ChoiceOf(std::string_view name);  // that exists

struct KernelVariant {
  std::map<std::string, int> values;  // only what differs from the default
  [[nodiscard]] int Get(std::string_view name) const;
  [[nodiscard]] std::string Text() const;  // "columns=4 stream=1"; "default" when nothing differs
  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

// Words "name=value" with known names and values; others are passed over.
[[nodiscard]] KernelVariant VariantFromText(std::string_view text);
// Of a kernel that the expert wrote; none of others.
[[nodiscard]] std::optional<KernelVariant> VariantOf(const Candidate& candidate);
[[nodiscard]] std::string VariantLine(const KernelVariant& variant);

}  // namespace pragma
