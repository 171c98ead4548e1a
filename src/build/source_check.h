// Checks a source text before it is compiled. This is a tripwire, not an audit: it gives a clear
// reason early. Where it can be evaded (token pasting, digraphs), the jail and the ELF audit still
// hold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/check.h"

namespace pragma {

struct SourceVerdict {
  std::string complaint;      // reason why it is rejected; empty: it may be compiled
  std::vector<Check> checks;  // one that passed, and notes for auditors
};

[[nodiscard]] SourceVerdict CheckSource(const std::string& source, std::size_t max_bytes,
                                        Language language = Language::kCpp);

}  // namespace pragma
