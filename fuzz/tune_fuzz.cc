// layers: tune
// A candidate's declarations of tunables were written by a model or by an unknown person.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/random.h"
#include "core/candidate.h"
#include "tune/space.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const pragma::Candidate candidate =
      pragma::CppCandidate(std::string(reinterpret_cast<const char*>(data), size));
  const auto space = pragma::ReadTuneSpace(candidate);
  if (!space) {
    if (space.error().message.empty()) std::abort();
    return 0;
  }
  pragma::Rng rng(pragma::Seed{});
  const pragma::VariantList list = pragma::SampleVariants(*space, 8, rng);
  if (list.variants.empty() || list.variants.size() > 8) std::abort();
  if (list.combinations < list.variants.size()) std::abort();
  for (const pragma::Variant& variant : list.variants) {
    if (variant.tunables.size() != space->tunables.size()) std::abort();
  }
  return 0;
}
