// HtmlPage: one self-contained HTML file from a template, a style, scripts and data. The data is
// foreign text and is never markup: it goes in as JSON without "<", and a content security policy
// names the page's own scripts and style by their hashes and allows nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// The fixed parts (folder report/ of the installation, and two JavaScript libraries).
struct PageAssets {
  std::string page;                  // the template
  std::string style;                 // CSS
  std::vector<std::string> scripts;  // in order
};

// Where they lie. Debian keeps the libraries elsewhere than an installation of pragma does.
struct PageFolders {
  std::filesystem::path parts;
  std::vector<std::filesystem::path> libraries;
};

[[nodiscard]] Result<PageAssets> LoadPageAssets(const PageFolders& folders);

// JSON that is unpacked only when a reader asks for it.
struct PageBlock {
  std::string id;
  std::string json;
};

struct PageContent {
  std::string title;
  std::string json;  // read at once
  std::vector<PageBlock> blocks;
};

[[nodiscard]] std::string RenderPage(const PageAssets& assets, const PageContent& content);

// JSON as it may stand inside a script element: no "<", ">", "&", U+2028 or U+2029.
[[nodiscard]] std::string ScriptSafeJson(std::string_view json);

}  // namespace pragma
