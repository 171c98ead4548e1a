// The Coder without a language model: lowers the task's graph and writes the kernel in the variant
// for which the advice asks.
#include <fmt/format.h>

#include <algorithm>
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
#include "core/candidate.h"
#include "core/task.h"
#include "core/trial.h"
#include "expert/expert.h"
#include "expert/lower/lowering.h"
#include "expert/next_variant.h"
#include "expert/plan/choices.h"
#include "expert/plan/variant.h"
#include "expert/task_writer.h"
#include "machine/machine.h"

namespace pragma::expert {
namespace {

// Removes "unsupported: " from the message, since the status already says so.
std::string Refusal(std::string_view message) {
  constexpr std::string_view kStatus = "unsupported: ";
  if (message.starts_with(kStatus)) message.remove_prefix(kStatus.size());
  return std::string(message) + "; a language model may write it: --model SPEC";
}

class ExpertCoder final : public Coder {
 public:
  ExpertCoder(const KernelTarget& target, Language language)
      : target_(target), language_(language) {}

  Result<Proposal> Propose(const Window& window, const Advice* advice, CallKey) override {
    Proposal proposal;
    proposal.author = "expert";
    const TaskWriter writer(*window.task, target_);
    const Result<WrittenKernel> first = writer.Write(language_, {});
    if (!first) {
      proposal.reason = Refusal(first.error().message);
      proposal.unsupported = true;
      return proposal;
    }
    const Result<WrittenKernel> wanted =
        writer.Write(language_, Wanted(window, advice, writer, first->open));
    proposal.candidate = AsCandidate(TRY(wanted).source);
    return proposal;
  }

 private:
  [[nodiscard]] Candidate AsCandidate(std::string source) const {
    return language_ == Language::kTriton ? TritonCandidate(std::move(source))
                                          : CppCandidate(std::move(source));
  }

  // Returns the variant to write: the choices of the version to start from, with the one requested
  // change. Without advice it makes a change that has not been tried. Where no version is shown,
  // the default comes first and then random samples from what it leaves open (`of_default`).
  [[nodiscard]] static KernelVariant Wanted(const Window& window, const Advice* advice,
                                            const TaskWriter& writer,
                                            const std::vector<Choice>& of_default) {
    const Trial* start = window.best != nullptr ? window.best : window.current;
    const bool has_start = start != nullptr && start->candidate;
    KernelVariant present;
    if (has_start) present = VariantOf(*start->candidate).value_or(present);
    if (advice != nullptr) {
      const bool anew = advice->base == Base::kReference;
      return VariantFromText((anew ? "" : present.Text()) + " " + advice->change);
    }
    if (has_start) {
      const auto change =
          UntriedChange(writer.OpenChoices(*start->candidate), TriedValues(window, writer));
      if (change) return VariantFromText(present.Text() + " " + *change);
    }
    if (window.attempt <= 1) return {};
    return SampledVariant(of_default, window.attempt);
  }

  KernelTarget target_;
  Language language_;
};

}  // namespace

KernelTarget TargetOf(const Machine& machine) {
  KernelTarget target;
  target.threads = std::max(1, machine.threads);
  const auto has = [&](std::string_view feature) {
    return std::ranges::find(machine.features, feature) != machine.features.end();
  };
  target.lanes = has("avx512f") ? 16 : has("avx2") ? 8 : 4;
  target.registers = has("avx512f") || has("asimd") ? 32 : 16;
  for (const CacheLevel& cache : machine.caches)
    if (cache.level == 2 && cache.shared_by <= 2)
      target.private_cache_bytes = static_cast<std::int64_t>(cache.bytes);
  if (const std::size_t shared = machine.usable_last_level_bytes(); shared > 0)
    target.shared_cache_bytes = static_cast<std::int64_t>(shared);
  if (machine.device && machine.device->block_shared_bytes > 0)
    target.block_shared_bytes = static_cast<std::int64_t>(machine.device->block_shared_bytes);
  return target;
}

std::unique_ptr<Coder> MakeExpertCoder(const KernelTarget& target, Language language) {
  return std::make_unique<ExpertCoder>(target, language);
}

bool ExpertKnows(const Task& task) { return LowerTask(task).has_value(); }

}  // namespace pragma::expert
