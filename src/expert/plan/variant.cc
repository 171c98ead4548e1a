#include "expert/plan/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "core/candidate.h"
#include "expert/plan/choices.h"

namespace pragma::expert {
namespace {

constexpr std::string_view kMark = "pragma-expert:";  // follows the characters that begin a comment
constexpr std::size_t kFirstBytes = 2000;             // length of the prefix in which the mark is
                                                      // searched

std::string_view CommentSign(Language language) {
  return language == Language::kTriton ? "#" : "//";
}

bool IsTunableName(std::string_view name) {
  const auto fits = [](unsigned char c) {
    return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, fits);
}

}  // namespace

int KernelVariant::Get(std::string_view name) const {
  const auto found = values.find(std::string(name));
  if (found != values.end()) return found->second;
  const Choice* choice = FindChoice(name);
  return choice == nullptr ? 0 : choice->values.front();
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
    const std::string name = word.substr(0, equals);
    const int value = std::atoi(word.c_str() + equals + 1);
    const Choice* choice = FindChoice(name);
    const bool known =
        choice != nullptr && std::ranges::find(choice->values, value) != choice->values.end();
    if (choice != nullptr && known && value == choice->values.front()) {
      variant.values.erase(name);
    } else if (known || IsTunableName(name)) {
      variant.values[name] = value;
    }
  }
  return variant;
}

std::optional<KernelVariant> VariantOf(const Candidate& candidate) {
  if (candidate.language != Language::kCpp && candidate.language != Language::kTriton)
    return std::nullopt;
  const std::string mark = fmt::format("{} {}", CommentSign(candidate.language), kMark);
  for (const std::string& line :
       SplitLines(std::string_view(candidate.source()).substr(0, kFirstBytes)))
    if (line.starts_with(mark)) return VariantFromText(std::string_view(line).substr(mark.size()));
  return std::nullopt;
}

std::string VariantLine(const KernelVariant& variant, Language language) {
  return fmt::format("{} {} {}\n", CommentSign(language), kMark, variant.Text());
}

}  // namespace pragma::expert
