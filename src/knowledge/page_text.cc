#include "knowledge/page_text.h"

#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

constexpr std::size_t kMostPageBytes = std::size_t{8} << 20U;
// Limit on the nesting depth, because tidy recurses for each level.
constexpr std::size_t kMostDepth = 400;
constexpr std::size_t kMostLinks = 5000;
constexpr std::size_t kMostLinkBytes = 2000;

// Returns true for elements without an end tag, or whose end tag is often omitted. They are not
// nested in themselves.
bool EndsByItself(std::string_view name) {
  static const std::set<std::string_view> kNames{
      "area",  "base",     "body",   "br",   "col",   "colgroup", "dd",    "dt",
      "embed", "head",     "hr",     "html", "img",   "input",    "li",    "link",
      "meta",  "optgroup", "option", "p",    "param", "source",   "tbody", "td",
      "tfoot", "th",       "thead",  "tr",   "track", "wbr"};
  return kNames.contains(name);
}

// Returns the maximum nesting depth, determined from the tags alone.
std::size_t DepthOf(std::string_view html) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    std::size_t begin = at + 1;
    const bool ends = begin < html.size() && html[begin] == '/';
    if (ends) ++begin;
    std::string name;
    for (std::size_t i = begin; i < html.size() && name.size() < 32; ++i) {
      const auto c = static_cast<unsigned char>(html[i]);
      if (std::isalnum(c) == 0 && c != '-') break;
      name += static_cast<char>(std::tolower(c));
    }
    if (name.empty() || EndsByItself(name)) continue;
    if (ends && depth > 0) --depth;
    if (!ends) deepest = std::max(deepest, ++depth);
  }
  return deepest;
}

// Owns tidy's document and buffers.
class Tidy final {
 public:
  Tidy() : document_(tidyCreate()) { tidyBufInit(&messages_); }
  Tidy(const Tidy&) = delete;
  Tidy& operator=(const Tidy&) = delete;
  ~Tidy() {
    tidyBufFree(&messages_);
    tidyRelease(document_);
  }
  [[nodiscard]] bool Parse(std::string_view html, const char* encoding) {
    tidySetErrorBuffer(document_, &messages_);
    tidyOptSetBool(document_, TidyForceOutput, yes);
    tidyOptSetBool(document_, TidyQuiet, yes);
    tidyOptSetBool(document_, TidyShowWarnings, no);
    tidyOptSetInt(document_, TidyShowErrors, 0);
    tidyOptSetBool(document_, TidyDropEmptyElems, no);
    if (tidySetInCharEncoding(document_, encoding) != 0) return false;
    TidyBuffer input;
    tidyBufInit(&input);
    std::string bytes(html);  // tidy's interface takes non-const bytes
    tidyBufAttach(&input, reinterpret_cast<byte*>(bytes.data()), static_cast<uint>(bytes.size()));
    const int status = tidyParseBuffer(document_, &input);
    tidyBufDetach(&input);
    return status >= 0;
  }
  [[nodiscard]] TidyDoc document() const { return document_; }

 private:
  TidyDoc document_;
  TidyBuffer messages_{};
};

std::string NameOf(TidyNode node) {
  const char* name = tidyNodeGetName(node);
  return name == nullptr ? "" : name;
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool IsHidden(std::string_view name) {
  return IsOneOf(name, {"script", "style", "noscript", "template", "svg", "nav", "footer", "aside",
                        "form", "button", "select", "iframe", "object", "head"});
}

bool IsBlock(std::string_view name) {
  return IsOneOf(name,
                 {"p",          "div", "section", "article", "main",    "ul",         "ol",
                  "dl",         "dt",  "dd",      "table",   "tr",      "blockquote", "figure",
                  "figcaption", "hr",  "header",  "address", "details", "summary"});
}

bool IsHeading(std::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
}

class Walker final {
 public:
  explicit Walker(TidyDoc document) : document_(document) {}

  void Walk(TidyNode node, std::size_t depth) {
    if (node == nullptr || depth > 4 * kMostDepth) return;
    for (TidyNode child = tidyGetChild(node); child != nullptr; child = tidyGetNext(child)) {
      Visit(child, depth);
    }
  }
  PageText Take() {
    page.text = std::move(text_);
    return std::move(page);
  }
  PageText page;

 private:
  void Visit(TidyNode node, std::size_t depth);
  void Element(TidyNode node, const std::string& name, std::size_t depth);
  void Link(TidyNode node);
  void Text(TidyNode node);
  // Ends the line and, with `empty`, adds an empty one.
  void Break(bool empty);
  void Append(std::string_view text);
  std::string ValueOf(TidyNode node);

  TidyDoc document_;
  std::string text_;
  std::set<std::string> seen_;
  int hidden_ = 0;
  int pre_ = 0;
  bool in_title_ = false;
};

void Walker::Visit(TidyNode node, std::size_t depth) {
  const TidyNodeType type = tidyNodeGetType(node);
  if (type == TidyNode_Text || type == TidyNode_CDATA) {
    Text(node);
  } else if (type == TidyNode_Start || type == TidyNode_StartEnd || type == TidyNode_Root) {
    Element(node, NameOf(node), depth);
  }
}

void Walker::Element(TidyNode node, const std::string& name, std::size_t depth) {
  const bool hides = IsHidden(name);
  const bool heading = IsHeading(name);
  const bool block = IsBlock(name) || heading || name == "pre";
  if (name == "a") Link(node);
  if (name == "br" || name == "li") Break(false);
  if (block) Break(name != "tr" && name != "dt" && name != "dd");
  if (hidden_ == 0 && heading) Append("# ");
  if (hidden_ == 0 && name == "li") Append("- ");
  if (IsOneOf(name, {"td", "th"}) && !text_.empty() && text_.back() != '\n') Append(" | ");
  in_title_ = name == "title";
  hidden_ += hides ? 1 : 0;
  pre_ += name == "pre" ? 1 : 0;
  Walk(node, depth + 1);
  hidden_ -= hides ? 1 : 0;
  pre_ -= name == "pre" ? 1 : 0;
  in_title_ = false;
  if (block) Break(name != "tr" && name != "dt" && name != "dd");
}

void Walker::Link(TidyNode node) {
  const TidyAttr href = tidyAttrGetById(node, TidyAttr_HREF);
  const char* value = href == nullptr ? nullptr : tidyAttrValue(href);
  if (value == nullptr || page.links.size() >= kMostLinks) return;
  const std::string link(Trim(value));
  if (link.empty() || link.size() > kMostLinkBytes || !seen_.insert(link).second) return;
  page.links.push_back(ToValidUtf8(link));
}

std::string Walker::ValueOf(TidyNode node) {
  TidyBuffer buffer;
  tidyBufInit(&buffer);
  std::string text;
  if (tidyNodeGetValue(document_, node, &buffer) == yes && buffer.bp != nullptr) {
    text.assign(reinterpret_cast<const char*>(buffer.bp), buffer.size);
  }
  tidyBufFree(&buffer);
  return text;
}

void Walker::Text(TidyNode node) {
  const std::string text = ToValidUtf8(ValueOf(node));
  if (in_title_) page.title += text;
  if (hidden_ == 0) Append(text);
}

void Walker::Append(std::string_view text) {
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (pre_ > 0 || !space) {
      text_ += c;
    } else if (!text_.empty() && text_.back() != ' ' && text_.back() != '\n') {
      text_ += ' ';
    }
  }
}

void Walker::Break(bool empty) {
  if (hidden_ > 0 || text_.empty()) return;
  if (text_.back() != '\n') text_ += '\n';
  if (empty && !text_.ends_with("\n\n")) text_ += '\n';
}

const char* EncodingOf(std::string_view charset) {
  std::string lower(charset);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "iso-8859-1" || lower == "latin1") return "latin1";
  if (lower == "windows-1252") return "win1252";
  if (lower == "utf-16" || lower == "utf-16le" || lower == "utf-16be") return "utf16";
  return "utf8";
}

// Returns true for characters that do not occur in text. A few stray ones are tolerated.
bool IsOdd(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\f' && c != '\b' &&
          c != '\x1b') ||
         byte == 0x7F;
}

// Removes the last character with all its bytes.
void DropCharacter(std::string& text) {
  while (text.size() > 1 && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) {
    text.pop_back();
  }
  text.pop_back();
}

std::string WithoutControls(std::string_view text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r') {
      if (i + 1 == text.size() || text[i + 1] != '\n') clean += '\n';
    } else if (c == '\f') {
      clean += '\n';
    } else if (c == '\b') {  // man overstrikes bold and underlined letters: keep the second
      if (!clean.empty() && clean.back() != '\n') DropCharacter(clean);
    } else if (c == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      for (i += 2; i < text.size() && (text[i] < '@' || text[i] > '~') && text[i] != '\n';) ++i;
    } else if (!IsOdd(c) && c != '\x1b') {
      clean += c;
    }
  }
  return clean;
}

}  // namespace

Result<PageText> HtmlToText(std::string_view html, std::string_view charset) {
  if (html.size() > kMostPageBytes) {
    return Fail(ErrorKind::kUsage, "the page is larger than 8 MiB");
  }
  if (DepthOf(html) > kMostDepth) {
    return Fail(ErrorKind::kUsage, "the page's elements are nested too deeply");
  }
  Tidy tidy;
  // tidy's reader treats a NUL as the end of the input.
  std::string bytes(html);
  const char* encoding = EncodingOf(charset);
  if (std::string_view(encoding) != "utf16") std::erase(bytes, '\0');
  if (std::string_view(encoding) == "utf8") bytes = ToValidUtf8(bytes);
  if (!tidy.Parse(bytes, encoding)) {
    return Fail(ErrorKind::kUsage, "the page cannot be read as HTML");
  }
  Walker walker(tidy.document());
  walker.Walk(tidyGetRoot(tidy.document()), 0);
  PageText page = walker.Take();
  page.title = Trim(page.title);
  return page;
}

bool LooksLikeHtml(std::string_view text) {
  std::string start(Trim(text.substr(0, 2000)));
  std::ranges::transform(start, start.begin(), [](unsigned char c) { return std::tolower(c); });
  if (start.starts_with("\xef\xbb\xbf")) start.erase(0, 3);
  static constexpr std::array<std::string_view, 4> kStarts{"<!doctype html", "<html", "<head",
                                                           "<body"};
  const bool begins = std::ranges::any_of(
      kStarts, [&start](std::string_view mark) { return start.starts_with(mark); });
  return begins || (start.starts_with("<") && start.find("<html") != std::string::npos);
}

Result<std::string> CleanText(std::string_view text, const std::string& name) {
  const auto odd = static_cast<std::size_t>(std::ranges::count_if(text, IsOdd));
  if (odd > text.size() / 50) {
    return Fail(ErrorKind::kUsage, name + " looks like no text (it is full of control characters)");
  }
  std::string valid = ToValidUtf8(text);
  if (valid.size() > text.size() + text.size() / 5) {
    return Fail(ErrorKind::kUsage, name + " looks like no UTF-8 text");
  }
  std::string clean;
  int empty = 0;
  for (const std::string& line : SplitLines(WithoutControls(valid))) {
    const std::size_t end = line.find_last_not_of(" \t");
    empty = end == std::string::npos ? empty + 1 : 0;
    if (empty > 1) continue;
    clean += end == std::string::npos ? "\n" : line.substr(0, end + 1) + "\n";
  }
  return clean;
}

}  // namespace pragma
