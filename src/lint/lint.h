// Lint: can this task tell a wrong kernel from the right one? Decoys go through the real comparator
// on the task's own inputs. Decoys that are accepted there are tried on the batteries
// (docs/trust.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "task/torch_server.h"
#include "verify/options.h"

namespace pragma {

enum class LintVerdict : std::uint8_t {
  kSound,       // no decoy is accepted on the task's own inputs, by either rule
  kWeak,        // some decoys are accepted
  kDegenerate,  // an output that ignores the inputs is accepted, even by the strict rule
};
[[nodiscard]] std::string_view LintVerdictName(LintVerdict verdict);

struct AcceptedDecoy {
  std::string decoy;
  bool official = false;    // accepted by KernelBench's rule on the task's own inputs
  bool strict = false;      // accepted by the strict rule on the task's own inputs
  std::string rejected_by;  // the battery on which strict mode rejects it; empty: no battery does
};

struct LintReport {
  LintVerdict verdict = LintVerdict::kSound;
  std::vector<AcceptedDecoy> accepted;
  std::vector<std::string> invariances;  // arguments whose change alters nothing or hardly anything
  std::vector<std::string> batteries;    // batteries that the reference can judge
  std::vector<std::string> notes;        // what could not be examined
  double seconds = 0;
  // True if strict mode (batteries included) rejects every decoy that differs from the truth.
  [[nodiscard]] bool strict_mode_tells() const;
  [[nodiscard]] std::string Summary() const;  // one line
};

struct LintOptions {
  int sets = 3;         // number of sets of the task's own inputs; a decoy must be accepted on all
  Seconds budget{120};  // decoys that were not tried by then are noted
};

[[nodiscard]] Result<LintReport> LintTask(TorchServer& server, const LintOptions& options,
                                          const VerifyProgress& progress = {});

}  // namespace pragma
