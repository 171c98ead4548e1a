// The Conductor without a language model: one change an attempt, of what the profile says is in
// the way, from the best version so far. A change that measured worse is undone by starting from
// the best again; what was tried is not tried again; when nothing is left it says so.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/result.h"
#include "core/advice.h"
#include "core/profile.h"
#include "core/trial.h"
#include "expert/expert.h"
#include "expert/next_variant.h"
#include "expert/variant.h"

namespace pragma {
namespace {

// What a diagnosis suggests, in order; names of choices.
struct Remedy {
  std::string_view diagnosis;
  std::vector<std::string_view> choices;
};

const std::vector<Remedy>& Remedies() {
  static const std::vector<Remedy> kRemedies{
      {"dram_bandwidth", {"stream", "block", "threads"}},
      {"store_bound", {"stream", "block"}},
      {"l2_l3_bound", {"columns", "block", "stream"}},
      {"dram_latency", {"columns", "chains"}},
      {"tlb", {"columns", "block"}},
      {"l1_bound", {"columns", "unroll"}},
      {"dependency_chain", {"chains", "columns", "unroll"}},
      {"not_parallel", {"threads", "block"}},
      {"over_parallel", {"threads", "schedule"}},
      {"imbalance", {"schedule", "block"}},
      {"port_pressure", {"compiler", "unroll"}},
      {"spills", {"columns", "chains", "compiler"}},
      {"front_end", {"unroll", "chains"}},
      {"strided_access", {"columns", "compiler"}},
      {"not_vectorised", {"compiler"}},
      {"shuffles", {"compiler"}},
  };
  return kRemedies;
}

class ExpertConductor final : public Conductor {
 public:
  Result<Advised> Advise(const Window& window, CallKey) override {
    Advised advised;
    advised.author = "expert";
    advised.advice = Next(window);
    return advised;
  }

 private:
  static Advice Next(const Window& window) {
    const Trial* start = window.best != nullptr ? window.best : window.current;
    const std::vector<KernelVariant> tried = TriedVariants(window);
    if (start == nullptr) return First(window, tried);
    Advice advice;
    advice.base = window.best != nullptr ? Base::kBest : Base::kCurrent;
    if (!start->candidate) {
      advice.stop = true;
      advice.evidence = "there is no version to improve: the task's operators are not supported";
      return advice;
    }
    const std::optional<KernelVariant> base = VariantOf(*start->candidate);
    if (!base) return ForForeignCode();
    if (!FromDiagnosis(*start, *base, tried, advice))
      Ask(UntriedChange(*base, tried), "no diagnosis points at it; it has not been tried", advice);
    return advice;
  }

  // A tree strategy also asks for what hangs below the module itself.
  static Advice First(const Window& window, const std::vector<KernelVariant>& tried) {
    Advice advice;
    advice.base = Base::kReference;
    if (tried.empty()) {
      advice.stop = !window.others.empty();
      advice.change = "write a first version in the default variant";
      advice.evidence = advice.stop ? "the task's operators are not supported" : "";
      return advice;
    }
    Ask(UntriedChange({}, tried), "one choice other than the first version's", advice);
    return advice;
  }

  static void Ask(const std::optional<VariantChange>& next, const std::string& why,
                  Advice& advice) {
    advice.stop = !next;
    advice.evidence = next ? why : "every variant that the expert knows has been tried";
    if (next) advice.change = fmt::format("{}: {}", next->change, next->why);
  }

  static bool FromDiagnosis(const Trial& start, const KernelVariant& base,
                            const std::vector<KernelVariant>& tried, Advice& advice) {
    if (!start.profile) return false;
    for (const Diagnosis& diagnosis : start.profile->diagnosis) {
      const auto remedy = std::ranges::find(Remedies(), diagnosis.bottleneck, &Remedy::diagnosis);
      if (remedy == Remedies().end()) continue;
      for (const std::string_view name : remedy->choices) {
        const std::optional<VariantChange> next = UntriedChange(base, name, tried);
        if (!next) continue;
        advice.bottleneck = diagnosis.bottleneck;
        Ask(next, diagnosis.evidence.empty() ? "" : diagnosis.evidence.front(), advice);
        return true;
      }
    }
    return false;
  }

  // Beside a language model's Coder: what the diagnosis says, in words.
  static Advice ForForeignCode() {
    Advice advice;
    advice.base = Base::kBest;
    advice.evidence = "the version is not the expert's";
    advice.change = "remove the first bottleneck that the profile names";
    return advice;
  }
};

}  // namespace

std::unique_ptr<Conductor> MakeExpertConductor() { return std::make_unique<ExpertConductor>(); }

}  // namespace pragma
