// RemarkList: collects remarks as they are read, each once, and no more than a reader could use.
// Private to the readers of remarks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/remarks.h"

namespace pragma {

class RemarkList final {
 public:
  // Keeps a remark only if its text is valid UTF-8 of a sensible length.
  void Add(Remark remark);
  [[nodiscard]] std::vector<Remark> Take();  // sorted by line

 private:
  std::vector<Remark> remarks_;
};

// Returns true for "kernel.cpp" and "/build/kernel.cpp".
[[nodiscard]] bool IsKernelFile(std::string_view path);

}  // namespace pragma
