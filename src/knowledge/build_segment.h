// Segment: a piece of a document that a model summarises at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "knowledge/document.h"

namespace pragma {

struct Segment {
  std::string document;  // its name
  std::string heading;   // the last one before or at its beginning, else its first; empty: none
  std::string text;
  std::string hash;  // of the text: the same text is the same segment wherever it stands
};

// Splits before headings where it can, else between paragraphs, lines, words, never inside a UTF-8
// character. No piece is larger than `max_bytes` (at least 64); joined, they are the document but
// for white space at the seams.
[[nodiscard]] std::vector<Segment> SplitDocument(const Document& document, std::size_t max_bytes);

}  // namespace pragma
