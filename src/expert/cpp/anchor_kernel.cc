#include "expert/cpp/anchor_kernel.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/plan/tuning.h"

namespace pragma::expert {
namespace {

std::int64_t RoundsUp(std::int64_t count, std::int64_t step) { return (count + step - 1) / step; }

// Returns the cost of one step of the innermost loop in half cycles: the number of multiplications,
// or the number of loads for them where that is larger. Two multiplications start per cycle and
// each takes four cycles, so eight sums keep the units busy if no operand ever arrives late.
// Measured, it takes ten.
// With many registers a tile near a square was 5 to 8 % faster than a tall one with as many sums:
// it loads less for each multiplication.
std::int64_t StepCost(const KernelTarget& target, std::int64_t rows, std::int64_t vectors) {
  constexpr std::int64_t kParts = 4;
  const std::int64_t loads = rows + vectors;
  const std::int64_t cost = kParts * std::max({rows * vectors, loads, std::int64_t{10}});
  return target.registers > 16 ? cost + loads : cost;
}

}  // namespace

std::string FillIn(std::string_view text, const Places& values) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('@');
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = text.find('@', open + 1);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const auto found =
        std::ranges::find(values, name, &std::pair<std::string_view, std::string>::first);
    if (found == values.end()) throw std::logic_error("no value for @" + std::string(name) + "@");
    out += found->second;
    text.remove_prefix(close + 1);
  }
}

RegisterTile BestTile(const KernelTarget& target, std::int64_t rows, std::int64_t columns) {
  RegisterTile best;
  std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t most_vectors = target.registers > 16 ? 3 : 6;  // wider panels were slower
  for (std::int64_t vectors = 1; vectors <= most_vectors; ++vectors) {
    // Registers besides the sums: the vectors of one step, one broadcast value, and one spare.
    const std::int64_t most = (target.registers - vectors - 2) / vectors;
    for (std::int64_t height = std::min(most, rows); height >= 1; --height) {
      const std::int64_t tail = rows % height;
      const std::int64_t cost = RoundsUp(columns, vectors * target.lanes) *
                                (rows / height * StepCost(target, height, vectors) +
                                 (tail != 0 ? StepCost(target, tail, vectors) : 0));
      if (cost < best_cost) {
        best_cost = cost;
        best = {height, vectors};
      }
    }
  }
  return best;
}

bool IsLong(const Epilogue& epilogue) {
  constexpr std::size_t kLong = 250;
  return epilogue && epilogue(OutputSite{}).size() > kLong;
}

std::string ExtraParameters(const std::vector<ExtraParameter>& extra) {
  std::string text;
  for (const ExtraParameter& parameter : extra)
    text += ", " + parameter.type + " " + parameter.name;
  return text;
}

std::string ExtraArguments(const std::vector<ExtraParameter>& extra) {
  std::string text;
  for (const ExtraParameter& parameter : extra) text += ", " + parameter.name;
  return text;
}

TunableNumber NumberOf(std::string name, std::int64_t value, std::vector<std::int64_t> others) {
  others.push_back(value);
  std::ranges::sort(others);
  others.erase(std::ranges::unique(others).begin(), others.end());
  std::erase_if(others, [](std::int64_t other) { return other < 1; });
  TunableNumber number{std::move(name), static_cast<int>(value), {}};
  for (const std::int64_t other : others) number.values.push_back(static_cast<int>(other));
  return number;
}

std::string InCapitals(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace pragma::expert
