// RemarkList: remarks as they are read, each once, no more than a reader could use. Private to the
// readers of remarks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/remarks.h"

namespace pragma {

class RemarkList final {
 public:
  // Keeps valid UTF-8 of sensible length.
  void Add(Remark remark);
  [[nodiscard]] std::vector<Remark> Take();  // by line

 private:
  std::vector<Remark> remarks_;
};

// "kernel.cpp", "/build/kernel.cpp".
[[nodiscard]] bool IsKernelFile(std::string_view path);

}  // namespace pragma
