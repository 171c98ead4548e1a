// Sources of the builder: manual pages, files and documentation sections as documents.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "knowledge/crawl.h"

namespace pragma {

// "man:NAME", "man:NAME(SECTION)", an http or https address (Crawl), else a file of text or HTML.
// What cannot be read is the error, saying what was tried.
[[nodiscard]] Result<Crawled> ReadSource(const std::string& spec, const CrawlLimits& limits,
                                         Clock& clock, const CrawlProgress& progress);

}  // namespace pragma
