#include "expert/next_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/window.h"
#include "base/random.h"
#include "core/trial.h"
#include "expert/variant.h"

namespace pragma {
namespace {

// Half of a sample's choices keep their default: most defaults are there for a reason.
constexpr std::uint64_t kOneIn = 2;

// Values of one choice, the nearest to the present one first.
std::vector<int> Neighbours(const Choice& choice, int present) {
  const auto place = [&](int value) {
    return std::ranges::find(choice.values, value) - choice.values.begin();
  };
  std::vector<int> values = choice.values;
  std::erase(values, present);
  std::ranges::stable_sort(values, {},
                           [&](int value) { return std::abs(place(value) - place(present)); });
  return values;
}

std::optional<VariantChange> Untried(const KernelVariant& base, const Choice& choice,
                                     const std::vector<KernelVariant>& tried) {
  for (const int value : Neighbours(choice, base.Get(choice.name))) {
    const std::string change = fmt::format("{}={}", choice.name, value);
    const KernelVariant variant = VariantFromText(base.Text() + " " + change);
    if (std::ranges::find(tried, variant) != tried.end()) continue;
    return VariantChange{variant, change, choice.meaning};
  }
  return std::nullopt;
}

}  // namespace

std::vector<KernelVariant> TriedVariants(const Window& window) {
  std::vector<const Trial*> trials = window.others;
  trials.push_back(window.best);
  trials.push_back(window.current);
  std::vector<KernelVariant> tried;
  for (const Trial* trial : trials) {
    if (trial == nullptr || !trial->candidate) continue;
    if (std::optional<KernelVariant> variant = VariantOf(*trial->candidate))
      tried.push_back(std::move(*variant));
  }
  return tried;
}

std::optional<VariantChange> UntriedChange(const KernelVariant& base, std::string_view name,
                                           const std::vector<KernelVariant>& tried) {
  const auto choice = std::ranges::find(Choices(), name, &Choice::name);
  return choice == Choices().end() ? std::nullopt : Untried(base, *choice, tried);
}

std::optional<VariantChange> UntriedChange(const KernelVariant& base,
                                           const std::vector<KernelVariant>& tried) {
  for (const Choice& choice : Choices())
    if (std::optional<VariantChange> change = Untried(base, choice, tried)) return change;
  return std::nullopt;
}

KernelVariant SampledVariant(int attempt) {
  if (attempt <= 1) return {};
  Rng rng(DeriveSeed({}, fmt::format("expert variant {}", attempt)));
  std::string text;
  for (const Choice& choice : Choices()) {
    if (rng.Below(kOneIn) != 0) continue;
    text += fmt::format("{}={} ", choice.name, choice.values[rng.Below(choice.values.size())]);
  }
  return VariantFromText(text);
}

}  // namespace pragma
