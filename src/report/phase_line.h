// PhaseLine shows the current phase of a single evaluation as one redrawn line on a terminal. It
// prints nothing if the output is not a terminal.
#pragma once

#include <string_view>

#include "report/terminal.h"

namespace pragma {

class PhaseLine final {
 public:
  explicit PhaseLine(const Terminal& terminal) : terminal_(terminal) {}
  PhaseLine(const PhaseLine&) = delete;
  PhaseLine& operator=(const PhaseLine&) = delete;
  ~PhaseLine() { Clear(); }
  void Show(std::string_view phase);
  void Clear();

 private:
  const Terminal& terminal_;
  bool shown_ = false;
};

}  // namespace pragma
