// SealedBundle: a bundle's text and its name (docs/evidence.md).
#pragma once

#include <string>

namespace pragma {

// The text is one line of JSON that ends with `,"sha256":"HEX"}` and
// a newline. HEX is the hash of the text without that member and newline.
struct SealedBundle {
  std::string text;
  std::string sha256;
};

}  // namespace pragma
