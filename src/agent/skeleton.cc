#include "agent/skeleton.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "core/candidate.h"

namespace pragma {
namespace {

// Returns the declaration without its semicolon. It may span several lines.
std::string_view Declaration(std::string_view header, std::string_view entry) {
  const std::size_t begin = header.find(entry);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = header.find(';', begin);
  return header.substr(begin, end == std::string_view::npos ? end : end - begin);
}

std::string SkeletonModule(std::string_view interface) {
  return fmt::format(
      "import triton\nimport triton.language as tl\n\n\n{}\n"
      "    # Nothing is written yet: kernels, and here their launches.\n",
      Trim(interface.substr(std::min(interface.find("def run("), interface.size()))));
}

}  // namespace

std::string SkeletonKernel(std::string_view interface, Language language) {
  if (language == Language::kTriton) return SkeletonModule(interface);
  const bool cuda = language == Language::kCuda;
  return fmt::format(
      "// pragma-flags: {}\n"
      "#include \"kernel.h\"\n\n"
      "{} {{\n"
      "  // Nothing is written yet: the whole forward of the module is still to be computed here.\n"
      "}}\n",
      Join(DefaultFlags(language), " "),
      Declaration(interface,
                  cuda ? "extern \"C\" void pragma_launch(" : "extern \"C\" void pragma_kernel("));
}

}  // namespace pragma
