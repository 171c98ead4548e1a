// Crawl: fetches the pages of one section of a site. It stays below the section's path, obeys
// robots.txt and waits between requests.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "knowledge/document.h"

namespace pragma {

struct CrawlLimits {
  int depth = 2;           // link distance from the root; 0: only the root
  std::size_t pages = 40;  // maximum number of pages requested
  Seconds pause{1};        // between two requests; a longer Crawl-delay takes precedence
};

struct Crawled {
  std::vector<Document> documents;  // breadth first, beginning with the root
  std::vector<std::string> notes;   // skipped pages and the reasons
};

// Receives texts such as "page 3 of at most 40: URL".
using CrawlProgress = std::function<void(const std::string& what)>;

// Fetches pages below the folder of `root` on the same host and port. It obeys robots.txt, and
// requests nothing else of the site. If a page fails, that becomes a note. If the root fails, that
// is the error.
[[nodiscard]] Result<Crawled> Crawl(const std::string& root, const CrawlLimits& limits,
                                    Clock& clock, const CrawlProgress& progress);

// Returns the folder to which pages are restricted: "/docs/a.html" gives "/docs/", "/docs" gives
// "/docs/".
[[nodiscard]] std::string FolderOf(const std::string& path);

}  // namespace pragma
