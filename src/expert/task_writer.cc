#include "expert/task_writer.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/candidate.h"
#include "core/task.h"
#include "expert/cpp/emit_kernel.h"
#include "expert/ir/program.h"
#include "expert/lower/lowering.h"
#include "expert/plan/choices.h"
#include "expert/plan/variant.h"
#include "expert/triton/module.h"

namespace pragma::expert {

TaskWriter::TaskWriter(const Task& task, const KernelTarget& target)
    : task_(task), target_(target), program_(LowerTask(task)) {}

Result<WrittenKernel> TaskWriter::Write(Language language, const KernelVariant& variant) const {
  if (language != Language::kTriton) {
    Program program = TRY(program_);
    return EmitKernel(task_, std::move(program), target_, variant);
  }
  Program program = TRY(LowerTask(task_, kForTriton));
  if (!program.repeats.empty())
    return Fail("the expert writes recurrences in C++ only (--target cpu)");
  for (const Step& step : program.steps)
    if (step.routine) return Fail("the expert writes " + step.what + " in C++ only (--target cpu)");
  return EmitTriton(task_, std::move(program), variant, target_);
}

std::vector<Choice> TaskWriter::OpenChoices(const Candidate& candidate) const {
  const std::optional<KernelVariant> variant = VariantOf(candidate);
  if (!variant) return {};
  const Result<WrittenKernel> written = Write(candidate.language, *variant);
  if (!written) return {};
  std::vector<Choice> choices = written->open;
  // A tuner has already tried all combinations of tunables.
  if (!candidate.tunables.empty()) std::erase_if(choices, IsTunable);
  for (Choice& choice : choices)
    if (choice.name == kCompilerChoice && !target_.clang) choice.values = {choice.present};
  return choices;
}

}  // namespace pragma::expert
