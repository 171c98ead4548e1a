// BenchProgress: where a benchmark reports what it does.
#pragma once

#include <functional>
#include <string>

#include "report/terminal.h"

namespace pragma {

struct BenchProgress {
  Terminal terminal;                                  // for the progress of each search
  std::function<void(const std::string& line)> note;  // shows a line to the user
};

}  // namespace pragma
