// Looks at a source text before it meets a compiler. A tripwire, not an audit: the jail and the ELF
// audit hold where this can be evaded (token pasting, digraphs); it gives the clear reason early.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"

namespace pragma {

struct SourceVerdict {
  std::string complaint;      // why it is rejected; empty: it may be compiled
  std::vector<Check> checks;  // "pass", or a "note" for each thing that an auditor wants to know
};

[[nodiscard]] SourceVerdict CheckSource(const std::string& source, std::size_t max_bytes,
                                        Language language = Language::kCpp);

}  // namespace pragma
