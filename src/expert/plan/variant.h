// KernelVariant: the choices of one generated kernel that are not forced by its task. They stand in
// the kernel's first lines ("// pragma-expert: stream=1 SUM_COLUMNS=8", in Triton behind "#"),
// where the next attempt reads them: choices that every kernel has by small names, its tunables by
// theirs.
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
  std::map<std::string, int> values;  // only what differs from the default
  [[nodiscard]] int Get(std::string_view name) const;
  [[nodiscard]] std::string Text() const;  // "stream=1"; "default" when nothing differs
  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

enum class Roof : std::uint8_t { kEither, kMemory, kArithmetic };

struct Choice {
  std::string name;
  int present = 0;          // what the kernel has
  std::vector<int> values;  // all that make sense
  std::string meaning;      // for people: "vectors side by side where a fold runs down columns"
  std::vector<std::string> techniques;  // of the knowledge base, that it carries out
  Roof roof = Roof::kEither;            // under which it is likely to matter
};
// What a kernel of the expert leaves open, in the order in which it is tried when nothing points at
// another; none for kernels of others.
[[nodiscard]] std::vector<Choice> ChoicesIn(const Candidate& candidate);
// The same, where what the target cannot carry out has its present value alone.
[[nodiscard]] std::vector<Choice> OpenChoices(const Candidate& candidate,
                                              const KernelTarget& target);
// The source with other defaults for its tunables, as far as the variant has some for them.
[[nodiscard]] std::string WithTunables(const std::string& source, const KernelVariant& variant);

// Words "name=value" with known names and values, or names in capitals; others are passed over.
[[nodiscard]] KernelVariant VariantFromText(std::string_view text);
// Of a kernel that the expert wrote; none of others.
[[nodiscard]] std::optional<KernelVariant> VariantOf(const Candidate& candidate);
[[nodiscard]] std::string VariantLine(const KernelVariant& variant,
                                      Language language = Language::kCpp);

}  // namespace pragma::expert
