// Verifier: a candidate to an Evaluation: build, run in the jail on secret inputs, compare, time.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/options.h"
#include "verify/paper_timing.h"
#include "verify/timing_check.h"
#include "verify/variant_bench.h"

namespace pragma {

class Verifier final {
 public:
  // All parts but machine and options, which are copied, outlive the verifier. The reference stays
  // warm in `server`.
  Verifier(TorchServer& server, const Builder& builder, const Jail& jail, const Machine& machine,
           const VerifyOptions& options);
  Verifier(Verifier&&) noexcept;
  ~Verifier();

  using Progress = VerifyProgress;
  // `best`: the present best, to be timed against as well; nullptr: none. Errors only for our own
  // trouble.
  [[nodiscard]] Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best,
                                            Measure measure, const Progress& progress = {});
  // As the PRAGMA paper times (paper_timing.h). `candidate`: one that passed; nullptr: the
  // baselines alone.
  [[nodiscard]] Result<PaperTiming> TimeByPaper(const Candidate* candidate, bool compile,
                                                const Progress& progress = {});
  // For a passed candidate that is about to become the best: sanitizers, counted apart in
  // phases_ms. A report turns the evaluation into a rejection.
  [[nodiscard]] Result<void> Sanitize(const Candidate& candidate, Evaluation& evaluation,
                                      const Progress& progress = {});
  // For tuners; the verifier outlives it, and evaluates nothing while it is there.
  [[nodiscard]] Result<VariantBench> OpenVariants();
  // Waits until nothing that was begun ahead for the next evaluation uses the server any more, so
  // that others may.
  [[nodiscard]] Result<void> Settle();
  [[nodiscard]] std::optional<TaskBaseline> baseline() const;
  // With the best figures seen so far: it is measured again before a kernel is called implausible.
  [[nodiscard]] const Machine& machine() const;
  void set_baseline(const TaskBaseline& baseline);
  // Of the evaluations from now on: VerifyOptions::seed.
  void set_seed(const std::optional<Seed>& seed);
  // Of attempts of a search, whose best is judged again: kQuickBatteryBudget.
  void set_quick(bool quick);
  // Whether another evaluation follows the next one: its processes on a GPU are started ahead.
  void set_more_to_come(bool more);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pragma
