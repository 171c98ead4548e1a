#include "expert/next_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "agent/window.h"
#include "base/random.h"
#include "core/candidate.h"
#include "core/trial.h"
#include "expert/plan/choices.h"
#include "expert/plan/variant.h"
#include "expert/task_writer.h"

namespace pragma::expert {
namespace {

// In a sample, one of this many choices is drawn at random. The others keep their default, which
// usually has a reason.
constexpr std::uint64_t kDrawnOneIn = 2;

// Returns the other values of one choice, those nearest to the present value first.
std::vector<int> Neighbours(const Choice& choice) {
  std::vector<int> values = choice.values;
  std::ranges::sort(values);
  const auto place = [sorted = values](int value) {
    return std::ranges::lower_bound(sorted, value) - sorted.begin();
  };
  std::erase(values, choice.present);
  std::ranges::stable_sort(
      values, {}, [&](int value) { return std::abs(place(value) - place(choice.present)); });
  return values;
}

// Returns whether two versions agree in all choices that both have. A choice is absent from a
// version where the other values make it meaningless (no schedule without threads), so it does not
// distinguish two versions.
bool Agree(const ChoiceValues& a, const ChoiceValues& b) {
  return std::ranges::all_of(a, [&](const auto& entry) {
    const auto found = b.find(entry.first);
    return found == b.end() || found->second == entry.second;
  });
}

}  // namespace

ChoiceValues ValuesOf(const std::vector<Choice>& choices) {
  ChoiceValues values;
  for (const Choice& choice : choices) values[choice.name] = choice.present;
  return values;
}

std::vector<ChoiceValues> TriedValues(const Window& window, const TaskWriter& writer) {
  std::vector<const Trial*> trials = window.others;
  trials.push_back(window.best);
  trials.push_back(window.current);
  std::vector<ChoiceValues> tried;
  for (const Trial* trial : trials)
    if (trial != nullptr && trial->candidate)
      tried.push_back(ValuesOf(writer.OpenChoices(*trial->candidate)));
  std::erase_if(tried, [](const ChoiceValues& values) { return values.empty(); });
  return tried;
}

std::optional<std::string> UntriedChange(const Choice& choice, const std::vector<Choice>& all,
                                         const std::vector<ChoiceValues>& tried) {
  ChoiceValues values = ValuesOf(all);
  for (const int value : Neighbours(choice)) {
    values[choice.name] = value;
    const auto as_asked = [&](const ChoiceValues& before) { return Agree(before, values); };
    if (std::ranges::none_of(tried, as_asked))
      return fmt::format("{}={}: {}", choice.name, value, choice.meaning);
  }
  return std::nullopt;
}

std::optional<std::string> UntriedChange(const std::vector<Choice>& all,
                                         const std::vector<ChoiceValues>& tried) {
  for (const Choice& choice : all)
    if (std::optional<std::string> change = UntriedChange(choice, all, tried)) return change;
  return std::nullopt;
}

KernelVariant SampledVariant(const std::vector<Choice>& choices, int attempt) {
  Rng rng(DeriveSeed({}, fmt::format("expert variant {}", attempt)));
  std::string text;
  for (const Choice& choice : choices) {
    if (rng.Below(kDrawnOneIn) != 0) continue;
    text += fmt::format("{}={} ", choice.name, choice.values[rng.Below(choice.values.size())]);
  }
  return VariantFromText(text);
}

}  // namespace pragma::expert
