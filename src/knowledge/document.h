// Document: one text from which knowledge is built.
#pragma once

#include <string>

namespace pragma {

struct Document {
  std::string name;  // "man:perf-stat", a file name or an address; the source that entries name
  std::string text;  // cleaned by CleanText
};

}  // namespace pragma
