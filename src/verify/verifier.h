// Verifier: turns a candidate into an Evaluation. It builds the candidate, runs it in the jail on
// secret inputs, compares the outputs and times it.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/baseline.h"
#include "verify/options.h"
#include "verify/paper_timing.h"

namespace pragma {

struct Evaluation;

struct VariantParts;  // host_calls.h

class Verifier final {
 public:
  // All parts except machine and options, which are copied, must outlive the verifier. The
  // reference stays warm in `server`.
  Verifier(TorchServer& server, const Builder& builder, const Jail& jail, const Machine& machine,
           const VerifyOptions& options);
  Verifier(Verifier&&) noexcept;
  ~Verifier();

  using Progress = VerifyProgress;
  // Evaluates a candidate. `best` is the present best, which is timed against as well; nullptr:
  // there is no best. Errors only for pragma's own failures.
  [[nodiscard]] Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best,
                                            Measure measure, const Progress& progress = {});
  // Times as the PRAGMA paper does (paper_timing.h). `candidate` must have passed; nullptr: times
  // only the baselines.
  [[nodiscard]] Result<PaperTiming> TimeByPaper(const Candidate* candidate, bool compile,
                                                const Progress& progress = {});
  // Runs the sanitizers on a passed candidate that is about to become the best. Their time is
  // recorded separately in phases_ms. A report turns the evaluation into a rejection.
  [[nodiscard]] Result<void> Sanitize(const Candidate& candidate, Evaluation& evaluation,
                                      const Progress& progress = {});
  // For tuners (tune/variant_bench.h). The verifier must outlive what is made with the parts, and
  // must evaluate nothing meanwhile.
  [[nodiscard]] Result<VariantParts> Variants();
  // Waits until nothing that was started ahead for the next evaluation uses the server any more, so
  // that others may use it.
  [[nodiscard]] Result<void> Settle();
  [[nodiscard]] std::optional<TaskBaseline> baseline() const;
  // Returns the machine with the best figures seen so far. It is measured again before a kernel is
  // called implausible.
  [[nodiscard]] const Machine& machine() const;
  void set_baseline(const TaskBaseline& baseline);
  // Sets VerifyOptions::seed for the evaluations from now on.
  void set_seed(const std::optional<Seed>& seed);
  // For attempts of a search, whose best is judged again: uses kQuickBatteryBudget.
  void set_quick(bool quick);
  // Says whether another evaluation follows the next one. If so, its processes on a GPU are started
  // ahead of time.
  void set_more_to_come(bool more);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
