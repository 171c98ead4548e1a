// layers: profile
// Compilers' remarks about a candidate, and the candidate's source, are untrusted text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "profile/remarks.h"

namespace {

void Check(const std::vector<pragma::Remark>& remarks) {
  int line = 0;
  for (const auto& remark : remarks) {
    if (remark.line < line || remark.line == 0 || remark.text.empty()) std::abort();
    line = remark.line;
    static_cast<void>(pragma::ReasonFor(remarks, remark.line, remark.line - 1));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Check(pragma::ReadGccRemarks(text));
  Check(pragma::ReadClangRemarks(text));
  constexpr int kLine = 5;
  const int loop = pragma::LoopLine(text, kLine);
  if (loop < 0 || loop > kLine) std::abort();
  return 0;
}
