#include "profile/rule_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "profile/rule_vocabulary.h"

namespace pragma {
namespace {

std::string Show(double value, const std::string& format) {
  if (format == "percent") return fmt::format("{:.3g} %", 100 * value);
  if (format == "ms") return FormatSeconds(value / 1e3);
  if (format == "us") return FormatSeconds(value / 1e6);
  if (format == "bytes") return FormatBytes(value);
  return FormatCount(value);
}

std::string SourceText(const RuleValue& value) {
  if (value.sources.empty()) return {};
  if (!value.computed) return Join(value.sources, ", ");
  std::vector<std::string> sources = value.sources;
  std::erase(sources, "estimated");
  return sources.empty() ? "estimated" : "estimated from " + Join(sources, ", ");
}

Result<EvidencePart> ParsePlaceholder(const std::string& inside) {
  EvidencePart part{.format = "number"};
  std::string expression = inside;
  if (const std::size_t colon = inside.rfind(':'); colon != std::string::npos) {
    const std::string word(Trim(inside.substr(colon + 1)));
    if (std::ranges::find(EvidenceFormats(), word) == EvidenceFormats().end()) {
      return Fail(ErrorKind::kUsage, fmt::format("the format \"{}\" is not known; known are {}",
                                                 word, Join(EvidenceFormats(), ", ")));
    }
    part.format = word;
    expression = inside.substr(0, colon);
  }
  part.expression = TRY(ParseExpression(std::string(Trim(expression))));
  return part;
}

// Returns the source of the line's values if they all have the same one.
std::optional<std::string> CommonSource(const std::vector<std::string>& sources) {
  std::set<std::string> distinct(sources.begin(), sources.end());
  distinct.erase("");
  if (distinct.size() == 1) return *distinct.begin();
  return std::nullopt;
}

}  // namespace

Result<EvidenceLine> ParseEvidence(const std::string& text) {
  EvidenceLine line;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at);
    if (open > at) line.push_back({.text = text.substr(at, open - at)});
    if (open == std::string::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) return Fail(ErrorKind::kUsage, "a \"{\" is not closed");
    line.push_back(TRY(ParsePlaceholder(text.substr(open + 1, close - open - 1))));
    at = close + 1;
  }
  return line;
}

std::string RenderEvidence(const EvidenceLine& line, const RuleValues& values) {
  std::vector<std::string> shown;
  std::vector<std::string> sources;
  for (const EvidencePart& part : line) {
    std::optional<RuleValue> value;
    if (part.expression) value = EvaluateExpression(*part.expression, values);
    const std::string unknown = part.expression ? "?" : part.text;
    shown.push_back(value ? Show(value->value, part.format) : unknown);
    sources.push_back(value ? SourceText(*value) : std::string());
  }
  const std::optional<std::string> common = CommonSource(sources);
  std::string text;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    text += shown[i];
    if (!common && !sources[i].empty()) text += " (" + sources[i] + ")";
  }
  return common ? text + " (" + *common + ")" : text;
}

}  // namespace pragma
