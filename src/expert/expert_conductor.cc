// The Conductor without a language model: one change an attempt, of what the profile says is in
// the way, from the best version so far. A change that measured worse is undone by starting from
// the best again; what was tried is not tried again; when nothing is left it says so.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/result.h"
#include "core/advice.h"
#include "core/profile.h"
#include "core/trial.h"
#include "expert/expert.h"
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

struct Idea {
  KernelVariant variant;
  std::string change;
  std::string why;
};

// The variants that were judged already.
std::vector<KernelVariant> Tried(const Window& window) {
  std::vector<const Trial*> trials = window.others;
  trials.push_back(window.best);
  trials.push_back(window.current);
  std::vector<KernelVariant> tried;
  for (const Trial* trial : trials) {
    if (trial == nullptr || !trial->candidate) continue;
    if (std::optional<KernelVariant> variant = VariantOf(*trial->candidate))
      tried.push_back(std::move(*variant));
  }
  return tried;
}

// Values of one choice, the nearest to the present one first.
std::vector<int> Neighbours(const Choice& choice, int present) {
  const auto place = [&](int value) {
    return std::ranges::find(choice.values, value) - choice.values.begin();
  };
  std::vector<int> values = choice.values;
  std::erase(values, present);
  std::ranges::stable_sort(values, {},
                           [&](int value) { return std::abs(place(value) - place(present)); });
  return values;
}

std::optional<Idea> Untried(const KernelVariant& base, const Choice& choice,
                            const std::vector<KernelVariant>& tried) {
  for (const int value : Neighbours(choice, base.Get(choice.name))) {
    const std::string change = fmt::format("{}={}", choice.name, value);
    const KernelVariant variant = VariantFromText(base.Text() + " " + change);
    if (std::ranges::find(tried, variant) != tried.end()) continue;
    return Idea{variant, change, choice.meaning};
  }
  return std::nullopt;
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
    Advice advice;
    advice.base = window.best != nullptr ? Base::kBest : Base::kCurrent;
    const Trial* start = window.best != nullptr ? window.best : window.current;
    if (start == nullptr || !start->candidate) {
      advice.stop = true;
      advice.evidence = "there is no version to improve: the task's operators are not supported";
      return advice;
    }
    const std::optional<KernelVariant> base = VariantOf(*start->candidate);
    if (!base) return ForForeignCode();
    const std::vector<KernelVariant> tried = Tried(window);
    if (FromDiagnosis(*start, *base, tried, advice)) return advice;
    for (const Choice& choice : Choices()) {
      const std::optional<Idea> idea = Untried(*base, choice, tried);
      if (!idea) continue;
      advice.evidence = "no diagnosis points at it; it has not been tried";
      advice.change = fmt::format("{}: {}", idea->change, idea->why);
      return advice;
    }
    advice.stop = true;
    advice.evidence = "every variant that the expert knows has been tried";
    return advice;
  }

  static bool FromDiagnosis(const Trial& start, const KernelVariant& base,
                            const std::vector<KernelVariant>& tried, Advice& advice) {
    if (!start.profile) return false;
    for (const Diagnosis& diagnosis : start.profile->diagnosis) {
      const auto remedy = std::ranges::find(Remedies(), diagnosis.bottleneck, &Remedy::diagnosis);
      if (remedy == Remedies().end()) continue;
      for (const std::string_view name : remedy->choices) {
        const auto choice = std::ranges::find(Choices(), name, &Choice::name);
        const std::optional<Idea> idea = Untried(base, *choice, tried);
        if (!idea) continue;
        advice.bottleneck = diagnosis.bottleneck;
        advice.evidence = diagnosis.evidence.empty() ? "" : diagnosis.evidence.front();
        advice.change = fmt::format("{}: {}", idea->change, idea->why);
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
