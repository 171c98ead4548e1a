// TaskBench: one task on a workbench, with its warm reference and its verifier.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench.h"
#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/metric_table.h"
#include "core/profile.h"
#include "core/task.h"
#include "lint/lint.h"
#include "profile/foreign_tool.h"
#include "task/shapes.h"
#include "task/torch_server.h"
#include "tune/variant_bench.h"
#include "verify/options.h"
#include "verify/verifier.h"

namespace pragma {

struct Evaluation;
struct RuleSet;

// With VerifyOptions::shapes it also holds references for the task's other shapes, and each
// candidate is judged on all of them. The workbench must outlive it.
class TaskBench final {
 public:
  // `most` is the most that evaluations are expected to measure. What that needs is prepared in
  // advance. An evaluation may measure more, but then has to wait for it.
  [[nodiscard]] static Result<std::unique_ptr<TaskBench>> Open(
      Workbench& bench, const std::filesystem::path& task, const VerifyOptions& options,
      Measure most = Measure::kEagerAndCompile);
  TaskBench(const TaskBench&) = delete;
  TaskBench& operator=(const TaskBench&) = delete;

  [[nodiscard]] const Task& task() const { return server_.task(); }
  [[nodiscard]] const std::string& header() const { return header_; }
  [[nodiscard]] TorchServer& server() { return server_; }
  [[nodiscard]] const TorchServer& server() const { return server_; }
  [[nodiscard]] const MetricTable& metrics() const { return bench_.metrics(); }
  [[nodiscard]] const VerifyOptions& options() const { return options_; }
  // Sets the seed of all later evaluations. Without a value a seed is drawn after each build.
  void set_seed(const std::optional<Seed>& seed) { verifier_->set_seed(seed); }
  // Calls Verifier::set_quick for every shape.
  void set_quick(bool quick);
  // Calls Verifier::set_more_to_come.
  void set_more_to_come(bool more) { verifier_->set_more_to_come(more); }
  // Loads what other processes have found out about the task meanwhile (lint, baselines).
  void Refresh();
  // Calls Verifier::Evaluate and keeps the task's baseline for later runs.
  [[nodiscard]] Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best,
                                            Measure measure, const Verifier::Progress& progress);
  // Opens the task as it is written, for the tuner. Nothing is evaluated while the result exists.
  [[nodiscard]] Result<VariantBench> OpenVariants() { return VariantBench::Open(*verifier_); }
  [[nodiscard]] Result<void> Sanitize(const Candidate& candidate, Evaluation& evaluation,
                                      const Verifier::Progress& progress);
  // Calls Verifier::TimeByPaper on the task as it is written.
  [[nodiscard]] Result<PaperTiming> TimeByPaper(const Candidate* candidate, bool compile,
                                                const Verifier::Progress& progress) {
    return verifier_->TimeByPaper(candidate, compile, progress);
  }
  // What to ask for besides what is always asked for.
  struct ProfileWish {
    std::vector<ForeignTool> tools;  // besides pragma's own sources and a device's profiler
    bool full = false;               // on a device: all counters (profile/device_profiler.h)
  };
  // Profiles a passed candidate that is not plain Python, on the task as it is written. The profile
  // takes its time from the evaluation.
  [[nodiscard]] Result<Profile> ProfileOf(const Candidate& candidate, const Evaluation& evaluation,
                                          const Verifier::Progress& progress) {
    return ProfileOf(candidate, evaluation, progress, {});
  }
  [[nodiscard]] Result<Profile> ProfileOf(const Candidate& candidate, const Evaluation& evaluation,
                                          const Verifier::Progress& progress,
                                          const ProfileWish& wish);
  // Stores the lint verdict with the task, and thus with every result, now and in later runs.
  void KeepLint(const LintReport& report);
  // Loads the lint verdict of an earlier run, or lints the task now.
  [[nodiscard]] Result<void> EnsureLint(const VerifyProgress& progress);

 private:
  TaskBench(Workbench& bench, TorchServer server, const VerifyOptions& options);
  // The task's text with other sizes.
  struct OtherShape {
    ShapeSet set;
    TempDir file;
    std::unique_ptr<TaskBench> bench;
  };
  // What a profile on a device is made from. The references and the pointer are borrowed.
  struct DeviceProfileWish {
    const Candidate& candidate;
    const BuiltKernel* kernel;  // built kernel of a CUDA candidate
    const Evaluation& evaluation;
    const ProfileWish& wish;
  };
  [[nodiscard]] Result<Profile> ProfileForDevice(const DeviceProfileWish& wish,
                                                 const RuleSet& rules,
                                                 const Verifier::Progress& progress);
  [[nodiscard]] Result<void> OpenShapes(const std::filesystem::path& task, Measure most);
  [[nodiscard]] Result<void> FindDims();
  void SetDims(std::vector<VaryingSize> dims);
  [[nodiscard]] Result<Evaluation> EvaluateOne(const Candidate& candidate, const Candidate* best,
                                               Measure measure, const Verifier::Progress& progress);
  [[nodiscard]] Result<Evaluation> EvaluateShapes(const Candidate& candidate, const Candidate* best,
                                                  Measure measure,
                                                  const Verifier::Progress& progress);
  // The key of the baseline. Figures of another cache state, thread count, torch or machine have
  // another key.
  [[nodiscard]] std::string BaselineKey() const;
  [[nodiscard]] std::string LintKey() const;
  void LoadLint();
  void LoadBaseline();
  void SaveBaseline();

  Workbench& bench_;
  TorchServer server_;
  std::string header_;
  VerifyOptions options_;
  std::optional<Verifier> verifier_;  // created anew when the kernel's header changes
  std::vector<OtherShape> others_;
  std::string kept_;  // the baseline as the store has it
};

}  // namespace pragma
