#include "search/strategy.h"

#include <memory>
#include <utility>

#include "base/random.h"
#include "search/policies.h"
#include "search/preset.h"

namespace pragma {

std::unique_ptr<Strategy> MakeStrategy(const Preset& preset, const Seed& seed) {
  switch (preset.policy) {
    case PolicyKind::kIndependent: return MakeIndependent();
    case PolicyKind::kLinear:
    case PolicyKind::kConversation: return MakeLinear(preset);
    case PolicyKind::kEpsilonGreedy: return MakeEpsilonGreedy(preset, seed);
    case PolicyKind::kBeam: return MakeBeam(preset);
    case PolicyKind::kUcb: return MakeUcb(preset);
  }
  std::unreachable();
}

}  // namespace pragma
