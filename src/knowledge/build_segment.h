// Segment: a piece of a document that a model summarises in one request.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "knowledge/document.h"

namespace pragma {

struct Segment {
  std::string document;  // name of the document
  std::string heading;   // the last one before or at its beginning, else its first; empty: none
  std::string text;
  std::string hash;  // hash of the text; equal texts are one segment wherever they occur
};

// Splits a document before headings if possible, otherwise between paragraphs, lines or words, and
// never inside a UTF-8 character. No piece is larger than `max_bytes` (at least 64). The pieces
// joined are the document, except for white space at the seams.
[[nodiscard]] std::vector<Segment> SplitDocument(const Document& document, std::size_t max_bytes);

}  // namespace pragma
