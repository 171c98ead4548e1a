// Evidence lines: templates of rules filled with values and their sources.
#pragma once

#include <string>

#include "base/result.h"
#include "profile/rule_expression.h"
#include "profile/rules.h"

namespace pragma {

// "{vector_share:percent} of the work (threshold {low:percent})": what stands in braces is an
// expression with, after the last colon, a format; "number" when there is none.
[[nodiscard]] Result<EvidenceLine> ParseEvidence(const std::string& text);
// A value that is not known is shown as "?". Each value is followed by its source; one source that
// all share is said once, at the end.
[[nodiscard]] std::string RenderEvidence(const EvidenceLine& line, const RuleValues& values);

}  // namespace pragma
