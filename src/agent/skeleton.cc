#include "agent/skeleton.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "core/candidate.h"

namespace pragma {
namespace {

constexpr std::string_view kEntry = "extern \"C\" void pragma_kernel(";

// The declaration without its semicolon; it may run over several lines.
std::string_view Declaration(std::string_view header) {
  const std::size_t begin = header.find(kEntry);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = header.find(';', begin);
  return header.substr(begin, end == std::string_view::npos ? end : end - begin);
}

}  // namespace

std::string SkeletonKernel(std::string_view kernel_header) {
  return fmt::format(
      "// pragma-flags: {}\n"
      "#include \"kernel.h\"\n\n"
      "{} {{\n"
      "  // Nothing is written yet: the whole forward of the module is still to be computed here.\n"
      "}}\n",
      Join(DefaultCppFlags(), " "), Declaration(kernel_header));
}

}  // namespace pragma
