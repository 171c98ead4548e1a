// KernelVariant: the choices of one generated kernel that its task does not force. They are
// recorded in the kernel's first lines ("// pragma-expert: stream=1 SUM_COLUMNS=8", in Triton
// behind "#"), where the next attempt reads them. Choices that every kernel has are lower-case
// names; tunables appear under their own names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "expert/ir/target.h"

namespace pragma::expert {

struct KernelVariant {
  std::map<std::string, int> values;  // only values that differ from the default
  [[nodiscard]] int Get(std::string_view name) const;
  [[nodiscard]] std::string Text() const;  // "stream=1"; "default" if nothing differs
  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

enum class Roof : std::uint8_t { kEither, kMemory, kArithmetic };

struct Choice {
  std::string name;
  int present = 0;          // the value in the present kernel
  std::vector<int> values;  // all values that make sense
  std::string meaning;      // description for people: "vectors side by side where a fold runs down
                            // columns"
  std::vector<std::string> techniques;  // techniques of the knowledge base that the choice carries
                                        // out
  Roof roof = Roof::kEither;            // the roof under which it is likely to matter
};
// Returns the choices that a kernel of the expert leaves open, in the order in which they are tried
// when nothing points at another. Returns none for kernels that the expert did not write.
[[nodiscard]] std::vector<Choice> ChoicesIn(const Candidate& candidate);
// Returns the choices of ChoicesIn. A choice that the target cannot carry out has only its present
// value.
[[nodiscard]] std::vector<Choice> OpenChoices(const Candidate& candidate,
                                              const KernelTarget& target);
// Returns the source with the defaults of its tunables replaced by the values in the variant, where
// it has some.
[[nodiscard]] std::string WithTunables(const std::string& source, const KernelVariant& variant);

// Parses words "name=value" with known names and values, or with names in capitals. Other words are
// ignored.
[[nodiscard]] KernelVariant VariantFromText(std::string_view text);
// Returns the variant of a kernel that the expert wrote, or nullopt for other kernels.
[[nodiscard]] std::optional<KernelVariant> VariantOf(const Candidate& candidate);
[[nodiscard]] std::string VariantLine(const KernelVariant& variant,
                                      Language language = Language::kCpp);

}  // namespace pragma::expert
