#include "search/strategy.h"

#include <memory>

#include "base/random.h"
#include "base/result.h"
#include "search/policies.h"
#include "search/preset.h"

namespace pragma {

Result<std::unique_ptr<Strategy>> MakeStrategy(const Preset& preset, const Seed& seed) {
  if (preset.policy == "independent") return MakeIndependent();
  if (preset.policy == "linear" || preset.policy == "conversation") return MakeLinear(preset);
  if (preset.policy == "epsilon_greedy") return MakeEpsilonGreedy(preset, seed);
  if (preset.policy == "beam") return MakeBeam(preset);
  if (preset.policy == "ucb") return MakeUcb(preset);
  return Fail(ErrorKind::kUsage, "the strategy " + preset.name + " has the policy \"" +
                                     preset.policy + "\", which this pragma does not know");
}

}  // namespace pragma
