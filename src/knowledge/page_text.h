// PageText: an HTML page as the text that a reader sees, and the targets of its links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

struct PageText {
  std::string title;
  // Headings are lines that begin with "# ", preformatted text keeps its lines, and the cells of a
  // table are separated by " | ". Scripts, styles and site navigation are left out.
  std::string text;
  std::vector<std::string> links;  // as written, in order, each once
};

// Any bytes are accepted. `charset` is what the server reported ("utf-8", "iso-8859-1"; empty:
// UTF-8). It is an error if a page is too costly to parse: larger than 8 MiB or nested too deeply.
[[nodiscard]] Result<PageText> HtmlToText(std::string_view html, std::string_view charset = {});

// Returns true if the text looks like an HTML page and not like plain text.
[[nodiscard]] bool LooksLikeHtml(std::string_view text);

// Cleans untrusted plain text for a prompt: valid UTF-8 without control characters, line ends as
// \n, at most one empty line in a row. Returns kUsage if it does not look like text at all.
[[nodiscard]] Result<std::string> CleanText(std::string_view text, const std::string& name);

}  // namespace pragma
