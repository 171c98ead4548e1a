#include "knowledge/build_segment.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "knowledge/document.h"

namespace pragma {
namespace {

constexpr std::size_t kFewestBytes = 64;
constexpr std::size_t kLongestHeading = 100;

// Lines that belong together. A heading begins a block.
struct Block {
  std::string heading;  // empty: a paragraph
  std::string text;     // ends with \n
};

bool Indented(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

// Returns true for "# Title" and for headings as in manual pages: flush left, short, and followed
// by an indented line.
bool IsHeading(const std::vector<std::string>& lines, std::size_t at) {
  const std::string& line = lines[at];
  if (line.starts_with("# ")) return true;
  const bool short_line = !line.empty() && line.size() <= kLongestHeading && !Indented(line);
  return short_line && at + 1 < lines.size() && Indented(lines[at + 1]) && !line.ends_with('.') &&
         !line.ends_with(':') && !line.ends_with(',');
}

std::vector<Block> BlocksOf(const std::string& text) {
  std::vector<Block> blocks;
  const std::vector<std::string> lines = SplitLines(text);
  bool begins = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) {
      begins = true;
      if (!blocks.empty()) blocks.back().text += "\n";
      continue;
    }
    const bool heading = IsHeading(lines, i);
    if (begins || heading) blocks.emplace_back();
    begins = false;
    if (heading) {
      blocks.back().heading =
          Trim(std::string_view(lines[i]).substr(lines[i].starts_with("# ") ? 2 : 0));
    }
    blocks.back().text += lines[i] + "\n";
  }
  return blocks;
}

// Returns how many bytes of `text` form a piece of at most `most` bytes: up to the last line end,
// else the last space, else the last whole character.
std::size_t PieceOf(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  for (const char mark : {'\n', ' '}) {
    const std::size_t at = text.rfind(mark, most - 1);
    if (at != std::string_view::npos && at > most / 2) return at + 1;
  }
  std::size_t end = most;
  const auto inside = [&text](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  while (end > most / 2 && inside(end)) --end;
  return end;
}

class Collector final {
 public:
  Collector(const Document& document, std::size_t most) : document_(document), most_(most) {}

  void Add(const Block& block) {
    const bool full = text_.size() + block.text.size() > most_;
    if (full || (!block.heading.empty() && text_.size() > most_ / 2)) Flush();
    if (!block.heading.empty()) latest_ = block.heading;
    if (text_.empty() || heading_.empty()) heading_ = latest_;
    text_ += block.text;
    while (text_.size() > most_) {
      std::string rest = text_.substr(PieceOf(text_, most_));
      text_.resize(text_.size() - rest.size());
      Flush();
      heading_ = latest_;
      text_ = std::move(rest);
    }
  }
  std::vector<Segment> Take() {
    Flush();
    return std::move(segments_);
  }

 private:
  void Flush() {
    const std::size_t begin = text_.find_first_not_of('\n');
    const std::size_t end = text_.find_last_not_of(" \n\t");
    if (begin != std::string::npos && end != std::string::npos && begin <= end) {
      std::string text = text_.substr(begin, end - begin + 1);
      std::string hash = Sha256Hex(text);
      segments_.push_back({document_.name, heading_, std::move(text), std::move(hash)});
    }
    text_.clear();
  }

  const Document& document_;
  std::size_t most_;
  std::string text_;
  std::string heading_;  // heading of the segment being filled
  std::string latest_;
  std::vector<Segment> segments_;
};

}  // namespace

std::vector<Segment> SplitDocument(const Document& document, std::size_t max_bytes) {
  Collector collector(document, std::max(max_bytes, kFewestBytes));
  for (const Block& block : BlocksOf(document.text)) collector.Add(block);
  return collector.Take();
}

}  // namespace pragma
