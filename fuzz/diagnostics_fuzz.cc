// layers: build
// A compiler's messages and a candidate's source are untrusted text. The first line that holds only
// "---" separates the messages from the source.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "build/builder.h"
#include "build/source_check.h"

namespace {

constexpr std::string_view kPart = "\n---\n";
constexpr std::size_t kManyDiagnostics = 40;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t part = text.find(kPart);
  const std::string source = part == std::string::npos ? text : text.substr(part + kPart.size());
  const auto diagnostics = pragma::ParseDiagnostics(text.substr(0, part), source);
  if (diagnostics.size() > kManyDiagnostics) std::abort();
  for (const auto& diagnostic : diagnostics) {
    if (diagnostic.severity.empty() || diagnostic.line < 0) std::abort();
  }
  if (pragma::CheckSource(source, std::size_t{1} << 20U).checks.empty()) std::abort();
  return 0;
}
