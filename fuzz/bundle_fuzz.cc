// layers: evidence
// A bundle may come from anyone. The input is sealed first, because otherwise the hash would reject
// nearly all inputs. Whatever is accepted must yield the same bundle when it is sealed again, and
// comparing it must do no harm.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "evidence/bundle.h"
#include "evidence/recheck.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(pragma::OpenBundle(text, "input"));
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return 0;
  const auto opened = pragma::OpenBundle(pragma::SealObject(text).text, "input");
  if (!opened) return 0;
  const pragma::SealedBundle again = pragma::Seal(opened->bundle);
  const auto reopened = pragma::OpenBundle(again.text, "input");
  if (!reopened || pragma::Seal(reopened->bundle).text != again.text) std::abort();
  const pragma::Rejudged now{.same_seed = opened->bundle.evaluation,
                             .fresh_seed = opened->bundle.evaluation,
                             .options = opened->bundle.options};
  static_cast<void>(pragma::CompareWithRecord(opened->bundle, now));
  return 0;
}
