#include "verify/value_check.h"

#include <cstddef>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "verify/checked_calls.h"
#include "verify/input_sets.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/state_check.h"
#include "verify/value_policy.h"

namespace pragma {
namespace {

using History = CheckedCalls::History;

class ValueCheck final {
 public:
  ValueCheck(const CheckParts& parts, Judging& judging, const VerifyProgress& progress)
      : parts_(parts),
        calls_(parts.calls),
        judging_(judging),
        policy_(parts.sets, parts.calls, judging, parts.options, progress) {}

  Result<void> Run();
  Result<void> RunNominal();
  Result<void> RunDrawn();

 private:
  Result<void> RunStrict();
  Result<void> WithOtherThreads();
  Result<void> LookForState();

  const CheckParts& parts_;
  CheckedCalls& calls_;
  Judging& judging_;
  ValuePolicy policy_;
};

Result<void> ValueCheck::Run() {
  parts_.sets.Forget();
  if (!TRY(calls_.Start(History::kUsed))) return {};
  TRY(policy_.NominalSets());
  if (!judging_.failed()) TRY(policy_.Again("in the same process"));
  if (judging_.failed() || !TRY(calls_.Start(History::kPristine))) return {};
  TRY(policy_.Again("in a fresh process"));
  if (!judging_.failed() && policy_.strict()) TRY(RunStrict());
  if (!judging_.failed()) policy_.Summarise();
  return {};
}

Result<void> ValueCheck::RunStrict() {
  TRY(WithOtherThreads());
  if (judging_.failed()) return {};
  calls_.Choose(History::kPristine);
  TRY(policy_.Batteries());
  return judging_.failed() ? Result<void>() : LookForState();
}

// Checks with other numbers of threads than are timed, as a user may have.
Result<void> ValueCheck::WithOtherThreads() {
  const std::vector<std::string> others = calls_.OtherThreads();
  for (std::size_t i = 0; i < others.size() && !judging_.failed(); ++i) {
    if (TRY(calls_.StartWith(i))) TRY(policy_.Again(others[i]));
  }
  return {};
}

Result<void> ValueCheck::LookForState() {
  TRY(calls_.BeforeState());
  return StateCheck(parts_.sets, calls_, policy_, judging_, calls_.StateBudget()).Run();
}

// Checks the first set last, so that it remains in slot 0.
Result<void> ValueCheck::RunNominal() {
  parts_.sets.Forget();
  if (!TRY(calls_.Start(History::kUsed))) return {};
  for (int i = parts_.options.check_sets - 1; i >= 0 && !judging_.failed(); --i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    TRY(policy_.NominalSet(i));
  }
  return {};
}

// Calls the kernel twice. The first call faults pages in and starts threads, so it says little
// about the kernel's time.
Result<void> ValueCheck::RunDrawn() {
  if (!TRY(calls_.Start(History::kUsed))) return {};
  for (int call = 0; call < 2 && !judging_.failed(); ++call) TRY(policy_.JudgeCall(0, 0));
  return {};
}

}  // namespace

Result<void> CheckValues(const CheckParts& parts, Judging& judging,
                         const VerifyProgress& progress) {
  return ValueCheck(parts, judging, progress).Run();
}

Result<void> CheckNominal(const CheckParts& parts, Judging& judging) {
  return ValueCheck(parts, judging, {}).RunNominal();
}

Result<void> CheckDrawn(const CheckParts& parts, Judging& judging) {
  return ValueCheck(parts, judging, {}).RunDrawn();
}

}  // namespace pragma
