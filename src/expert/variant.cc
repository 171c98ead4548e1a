#include "expert/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/candidate.h"

namespace pragma {
namespace {

constexpr std::string_view kMark = "// pragma-expert:";
constexpr std::size_t kFirstBytes = 2000;  // where the mark is looked for

const Choice* Find(std::string_view name) {
  const auto found = std::ranges::find(Choices(), name, &Choice::name);
  return found == Choices().end() ? nullptr : &*found;
}

}  // namespace

const std::vector<Choice>& Choices() {
  static const std::vector<Choice> kChoices{
      {"stream",
       0,
       {0, 1, 2},
       "stores past the caches: 0 for outputs that no cache holds, 1 never, 2 for every output"},
      {"columns", 4, {1, 2, 4, 8}, "vectors side by side where a fold runs down columns"},
      {"chains", 4, {1, 2, 4, 8}, "independent accumulators of a fold along a row"},
      {"threads", 1, {0, 1}, "whether all processors share the work"},
      {"schedule",
       0,
       {0, 1},
       "loops handed to threads: 0 in equal parts, 1 as threads become free"},
      {"block", 4096, {1024, 4096, 16384}, "elements of a long run that a thread takes at a time"},
      {"compiler", 0, {0, 1}, "0 g++, 1 clang++"},
      {"unroll", 0, {0, 1}, "whether the compiler unrolls loops further"},
  };
  return kChoices;
}

const Choice& ChoiceOf(std::string_view name) { return *Find(name); }

int KernelVariant::Get(std::string_view name) const {
  const auto found = values.find(std::string(name));
  if (found != values.end()) return found->second;
  const Choice* choice = Find(name);
  return choice == nullptr ? 0 : choice->otherwise;
}

std::string KernelVariant::Text() const {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "default" : text;
}

KernelVariant VariantFromText(std::string_view text) {
  KernelVariant variant;
  for (const std::string& word : Split(std::string(text), ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const Choice* choice = Find(word.substr(0, equals));
    const int value = std::atoi(word.c_str() + equals + 1);
    if (choice == nullptr || std::ranges::find(choice->values, value) == choice->values.end())
      continue;
    if (value == choice->otherwise) {
      variant.values.erase(choice->name);
    } else {
      variant.values[choice->name] = value;
    }
  }
  return variant;
}

std::optional<KernelVariant> VariantOf(const Candidate& candidate) {
  if (candidate.language != Language::kCpp) return std::nullopt;
  for (const std::string& line :
       SplitLines(std::string_view(candidate.source()).substr(0, kFirstBytes)))
    if (line.starts_with(kMark))
      return VariantFromText(std::string_view(line).substr(kMark.size()));
  return std::nullopt;
}

std::string VariantLine(const KernelVariant& variant) {
  return fmt::format("{} {}\n", kMark, variant.Text());
}

}  // namespace pragma
