// Reads the builder's sources (manual pages, files, documentation sections) as documents.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "knowledge/crawl.h"

namespace pragma {

// `spec` is "man:NAME", "man:NAME(SECTION)", an http or https address (see Crawl), or else a file
// of text or HTML. The error says which source cannot be read and what was tried.
[[nodiscard]] Result<Crawled> ReadSource(const std::string& spec, const CrawlLimits& limits,
                                         Clock& clock, const CrawlProgress& progress);

}  // namespace pragma
