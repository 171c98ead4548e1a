// Crawl: the pages of one section of a site, followed politely inside its path.
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
  int depth = 2;           // links away from the root; 0: the root alone
  std::size_t pages = 40;  // that are asked for
  Seconds pause{1};        // between two requests; a longer Crawl-delay wins
};

struct Crawled {
  std::vector<Document> documents;  // breadth first, the root first
  std::vector<std::string> notes;   // pages that were passed over, and why
};

// "page 3 of at most 40: URL"
using CrawlProgress = std::function<void(const std::string& what)>;

// Pages below the folder of `root` on the same host and port; robots.txt is honoured and nothing
// else of the site is asked for. A page that fails is a note; a root that fails is the error.
[[nodiscard]] Result<Crawled> Crawl(const std::string& root, const CrawlLimits& limits,
                                    Clock& clock, const CrawlProgress& progress);

// The folder that pages must lie in: "/docs/a.html" gives "/docs/", "/docs" gives "/docs/".
[[nodiscard]] std::string FolderOf(const std::string& path);

}  // namespace pragma
