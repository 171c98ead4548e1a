// Document: one text that knowledge is built from.
#pragma once

#include <string>

namespace pragma {

struct Document {
  std::string name;  // "man:perf-stat", a file's name or an address: what entries name as source
  std::string text;  // clean (CleanText)
};

}  // namespace pragma
