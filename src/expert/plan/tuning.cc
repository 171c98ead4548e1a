#include "expert/plan/tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "build/tunables.h"
#include "expert/plan/variant.h"

namespace pragma::expert {

std::string Tuning::Declare(TunableNumber number, std::vector<TunableNumber>& declared) const {
  if (constants.contains(number.name))
    return fmt::format("static constexpr int {} = {};", number.name, number.value);
  if (const auto other = defaults.find(number.name); other != defaults.end())
    number.value = other->second;
  std::string line = fmt::format("PRAGMA_TUNE({}, {}, {});", number.name, number.value,
                                 fmt::join(number.values, ", "));
  declared.push_back(std::move(number));
  return line;
}

Tuning WithinTuner(const std::vector<TunableNumber>& numbers, const KernelVariant& variant) {
  Tuning tuning;
  std::size_t count = 0;
  std::size_t combinations = 1;
  for (const TunableNumber& number : numbers) {
    const std::size_t values = number.values.size();
    if (count == kMostTunables || combinations * values > kMostCombinations) {
      tuning.constants.insert(number.name);
      continue;
    }
    ++count;
    combinations *= values;
    const auto wanted = variant.values.find(number.name);
    if (wanted != variant.values.end() &&
        std::ranges::find(number.values, wanted->second) != number.values.end())
      tuning.defaults[number.name] = wanted->second;
  }
  return tuning;
}

}  // namespace pragma::expert
