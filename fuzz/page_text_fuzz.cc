// layers: knowledge
// Parses pages, plain text and robots.txt of other people's sites, and their segments.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "http/http.h"
#include "knowledge/build_segment.h"
#include "knowledge/page_text.h"
#include "knowledge/robots.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr const char* kCharsets[] = {"", "iso-8859-1", "windows-1252", "utf-16"};
  const auto page = pragma::HtmlToText(text, kCharsets[data[0] % 4]);
  if (page) {
    if (pragma::ToValidUtf8(page->text) != page->text) std::abort();
    for (const std::string& link : page->links) {
      const auto url = pragma::ResolveUrl("http://host.example/docs/a.html", link);
      if (url && !url->starts_with("http")) std::abort();
    }
  }
  const auto clean = pragma::CleanText(text, "fuzz");
  if (clean) {
    const std::size_t most = 64U + data[0];
    for (const pragma::Segment& segment : pragma::SplitDocument({"fuzz", *clean}, most)) {
      if (segment.text.empty() || segment.text.size() > most) std::abort();
      if (pragma::ToValidUtf8(segment.text) != segment.text) std::abort();
    }
  }
  const pragma::Robots robots = pragma::ParseRobots(text);
  (void)robots.Allows("/docs/a.html");
  if (robots.rules.empty() && !robots.Allows("/")) std::abort();
  (void)pragma::LooksLikeHtml(text);
  return 0;
}
