// RunPage: a run as the data of its HTML report (docs/report.md).
#pragma once

#include <string>
#include <vector>

#include "report/html_page.h"
#include "report/json_text.h"
#include "store/store.h"

namespace pragma {

class SearchTree;

// Selects the prompts and replies that go into the page. Everything else is always included.
enum class Conversations { kBestPath, kAll };

// A view of a run as stored.
struct RunPage {
  const RunRecord& run;
  const SearchTree& tree;
  const BundleNames& bundles;
  const std::vector<CallRecord>& calls;
  Conversations conversations = Conversations::kBestPath;
};

[[nodiscard]] PageContent RunPageContent(const RunPage& page);

}  // namespace pragma
