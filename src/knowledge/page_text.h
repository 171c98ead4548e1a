// PageText: a page of HTML as the text a reader sees, and where its links lead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

struct PageText {
  std::string title;
  // Headings are lines that begin with "# ", preformatted text keeps its lines, cells of a table
  // are parted by " | ". Scripts, styles and what only leads round the site are left out.
  std::string text;
  std::vector<std::string> links;  // as written, in order, each once
};

// Any bytes are accepted. `charset` is what the server said ("utf-8", "iso-8859-1"; empty: UTF-8).
// An error for what would cost too much to read: larger than 8 MiB or nested too deeply.
[[nodiscard]] Result<PageText> HtmlToText(std::string_view html, std::string_view charset = {});

// Whether a text looks like a page rather than plain text.
[[nodiscard]] bool LooksLikeHtml(std::string_view text);

// Foreign plain text made fit for a prompt: valid UTF-8 without control characters, line ends as
// \n, at most one empty line in a row. kUsage when it looks like no text at all.
[[nodiscard]] Result<std::string> CleanText(std::string_view text, const std::string& name);

}  // namespace pragma
