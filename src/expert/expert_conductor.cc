// The Conductor without a language model. It starts from the roofline. Near the roof there is
// nothing left to gain. Below it, each attempt changes one thing of the best version so far. First
// come the changes that the knowledge base's techniques suggest for the profile's diagnosis, then
// those that may matter under the nearer roof. A change that measured worse is undone by starting
// from the best version again. What has been tried is not tried again. When nothing is left, the
// Conductor says so.
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
#include "core/evaluation.h"
#include "core/profile.h"
#include "core/trial.h"
#include "expert/expert.h"
#include "expert/next_variant.h"
#include "expert/plan/choices.h"
#include "expert/task_writer.h"
#include "knowledge/entry.h"

namespace pragma::expert {
namespace {

constexpr double kNearRoof = 0.95;
constexpr double kPastRoof = 1.1;  // above this share the estimate of the bound is not credible

// How far a version is from what this machine allows, and which limit is the nearer one.
struct Standing {
  Roof roof = Roof::kEither;  // kEither: not known
  double share = 0;           // share of the bound that is reached
};

Standing StandingOf(const Trial& trial) {
  const auto metric = [&](std::string_view tag) {
    const Metric* found = trial.profile ? trial.profile->Find(tag) : nullptr;
    return found == nullptr ? 0 : found->value;
  };
  if (const double share = metric("roofline_share"); share > 0) {
    const bool memory = metric("bandwidth_share") >= metric("compute_share");
    return {memory ? Roof::kMemory : Roof::kArithmetic, share};
  }
  // Without a profile, the bound is the time for the least data that must be read and written.
  const Evaluation& evaluation = trial.evaluation;
  if (!evaluation.timing || !evaluation.lower_bound_ms || evaluation.timing->ms.median <= 0)
    return {};
  return {Roof::kEither, *evaluation.lower_bound_ms / evaluation.timing->ms.median};
}

std::string Text(const Standing& standing) {
  if (standing.share <= 0) return "its distance from the bound is not known";
  const char* bound = standing.roof == Roof::kMemory       ? "bound by memory"
                      : standing.roof == Roof::kArithmetic ? "bound by arithmetic"
                                                           : "bound at least by memory";
  return fmt::format("{}, at {:.0f} % of what the machine allows", bound, 100 * standing.share);
}

// Describes the result of the last attempt where its version is not developed further.
std::string Undone(const Window& window) {
  const Trial* last = window.current;
  if (last == nullptr || last == window.best || !last->advice || !last->candidate) return "";
  const std::string change = last->advice->change.substr(0, last->advice->change.find(':'));
  if (change.empty()) return "";
  const std::optional<Interval>& ratio = last->evaluation.speedup_best;
  if (!ratio) return fmt::format("{} did not pass and is undone; ", change);
  return fmt::format("{} measured {:.2f} times the best and is undone; ", change, ratio->median);
}

class ExpertConductor final : public Conductor {
 public:
  ExpertConductor(Compendium knowledge, const KernelTarget& target)
      : knowledge_(std::move(knowledge)), target_(target) {}

  Result<Advised> Advise(const Window& window, CallKey) override {
    Advised advised;
    advised.author = "expert";
    advised.advice = Next(window);
    return advised;
  }

 private:
  [[nodiscard]] Advice Next(const Window& window) const {
    Advice advice;
    advice.base = window.best != nullptr ? Base::kBest : Base::kCurrent;
    const Trial* start = window.best != nullptr ? window.best : window.current;
    if (start == nullptr) return First(window);
    if (!start->candidate)
      return Stop(advice, "there is no version to improve: the task's operators are not supported");
    const TaskWriter writer(*window.task, target_);
    const std::vector<Choice> choices = writer.OpenChoices(*start->candidate);
    if (choices.empty()) return ForForeignCode();
    const Standing standing = StandingOf(*start);
    advice.evidence = Undone(window) + Text(standing);
    if (standing.share >= kNearRoof && standing.share <= kPastRoof)
      return Stop(advice, advice.evidence);
    const std::vector<ChoiceValues> tried = TriedValues(window, writer);
    if (FromDiagnosis(*start, choices, tried, advice)) return advice;
    for (const Roof roof : {standing.roof, Roof::kEither, Roof::kMemory, Roof::kArithmetic}) {
      for (const Choice& choice : choices)
        if (choice.roof == roof && Ask(choice, choices, tried, advice)) return advice;
    }
    return Stop(advice, "every variant that the expert knows has been tried");
  }

  static Advice Stop(Advice advice, std::string why) {
    advice.stop = true;
    advice.evidence = std::move(why);
    return advice;
  }

  // Returns the advice for a first version. A tree strategy also asks for children of the module
  // itself.
  [[nodiscard]] Advice First(const Window& window) const {
    Advice advice;
    advice.base = Base::kReference;
    advice.change = "write a first version";
    if (window.others.empty()) return advice;
    const auto first = std::ranges::find_if(
        window.others, [](const Trial* trial) { return trial->candidate.has_value(); });
    if (first == window.others.end()) return Stop(advice, "the task's operators are not supported");
    const TaskWriter writer(*window.task, target_);
    const std::optional<std::string> change =
        UntriedChange(writer.OpenChoices(*(*first)->candidate), TriedValues(window, writer));
    if (!change) return Stop(advice, "every first version that the expert knows has been tried");
    advice.change = *change;
    return advice;
  }

  static bool Ask(const Choice& choice, const std::vector<Choice>& all,
                  const std::vector<ChoiceValues>& tried, Advice& advice) {
    const std::optional<std::string> change = UntriedChange(choice, all, tried);
    if (change) advice.change = *change;
    return change.has_value();
  }

  bool FromDiagnosis(const Trial& start, const std::vector<Choice>& choices,
                     const std::vector<ChoiceValues>& tried, Advice& advice) const {
    if (!start.profile) return false;
    for (const Diagnosis& diagnosis : start.profile->diagnosis) {
      for (const Entry& entry : knowledge_.entries()) {
        if (entry.kind != EntryKind::kTechnique ||
            std::ranges::find(entry.classes, diagnosis.bottleneck) == entry.classes.end())
          continue;
        for (const Choice& choice : choices) {
          const bool carries =
              std::ranges::find(choice.techniques, entry.id) != choice.techniques.end();
          if (!carries || !Ask(choice, choices, tried, advice)) continue;
          advice.bottleneck = diagnosis.bottleneck;
          if (!diagnosis.evidence.empty()) advice.evidence += "; " + diagnosis.evidence.front();
          advice.change += fmt::format(" ({})", entry.id);
          return true;
        }
      }
    }
    return false;
  }

  // Returns the advice for a language model's Coder: the diagnosis in words.
  static Advice ForForeignCode() {
    Advice advice;
    advice.base = Base::kBest;
    advice.evidence = "the version is not the expert's";
    advice.change = "remove the first bottleneck that the profile names";
    return advice;
  }

  Compendium knowledge_;
  KernelTarget target_;
};

}  // namespace

std::unique_ptr<Conductor> MakeExpertConductor(Compendium knowledge, const KernelTarget& target) {
  return std::make_unique<ExpertConductor>(std::move(knowledge), target);
}

}  // namespace pragma::expert
