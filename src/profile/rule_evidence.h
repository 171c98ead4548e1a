// Evidence lines: templates in rules that are filled with values and their sources.
#pragma once

#include <string>

#include "base/result.h"
#include "profile/rule_expression.h"
#include "profile/rules.h"

namespace pragma {

// Parses a template such as "{vector_share:percent} of the work (threshold {low:percent})". Braces
// hold an expression and, after the last colon, a format. The default format is "number".
[[nodiscard]] Result<EvidenceLine> ParseEvidence(const std::string& text);
// Shows an unknown value as "?". Each value is followed by its source. If all values share one
// source, it is given once, at the end.
[[nodiscard]] std::string RenderEvidence(const EvidenceLine& line, const RuleValues& values);

}  // namespace pragma
