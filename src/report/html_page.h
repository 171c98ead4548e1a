// HtmlPage: builds one self-contained HTML file from a template, a style, scripts and data. The
// data is untrusted text and never becomes markup: it is inserted as JSON without "<". A content
// security policy lists the page's own scripts and style by their hashes and allows nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// The fixed parts: the installation's folder report/, and two JavaScript libraries.
struct PageAssets {
  std::string page;                  // the HTML template
  std::string style;                 // CSS
  std::vector<std::string> scripts;  // in loading order
};

// Where the parts are located. Debian keeps the libraries elsewhere than an installation of pragma
// does.
struct PageFolders {
  std::filesystem::path parts;
  std::vector<std::filesystem::path> libraries;
};

[[nodiscard]] Result<PageAssets> LoadPageAssets(const PageFolders& folders);

// JSON that is decompressed only when a reader requests it.
struct PageBlock {
  std::string id;
  std::string json;
};

struct PageContent {
  std::string title;
  std::string json;  // parsed when the page loads
  std::vector<PageBlock> blocks;
};

[[nodiscard]] std::string RenderPage(const PageAssets& assets, const PageContent& content);

// Returns JSON that is safe inside a script element: without "<", ">", "&", U+2028 or U+2029.
[[nodiscard]] std::string ScriptSafeJson(std::string_view json);

}  // namespace pragma
