// Workbench: the parts of pragma that commands share, made in order from the flags, with a clear
// error for the first one that cannot be had.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "cli/command.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/profile.h"
#include "core/task.h"
#include "machine/machine.h"
#include "profile/foreign_tool.h"
#include "sandbox/jail.h"
#include "store/store.h"
#include "task/shapes.h"
#include "task/torch_server.h"
#include "verify/lint.h"
#include "verify/options.h"
#include "verify/variant_bench.h"
#include "verify/verifier.h"

namespace pragma {

struct RuleSet;

// What is known of a machine stands in the store as "machine/FINGERPRINT/THREADS".
inline constexpr std::string_view kMachineFigures = "machine/";

// Whether kernels are measured on a GPU.
enum class DeviceWish { kNone, kIfThere };
[[nodiscard]] constexpr DeviceWish DeviceFor(Target target) {
  return target == Target::kCpu ? DeviceWish::kNone : DeviceWish::kIfThere;
}

struct WorkbenchOptions {
  int threads = 0;  // 0: what the machine gives
  SandboxMode sandbox = SandboxMode::kRequired;
  DeviceWish device = DeviceWish::kNone;
  std::vector<std::string> devices;                          // to take one from; empty: the first
  Seconds task_limit = TorchServerOptions{}.describe_limit;  // to import, build and describe a task
};

// Jail, store, machine with its figures (measured once per machine, kept in the store), builder.
class Workbench final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Workbench>> Create(const Context& context,
                                                                 const WorkbenchOptions& options);
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  [[nodiscard]] const Jail& jail() const { return jail_; }
  [[nodiscard]] Store& store() { return store_; }
  [[nodiscard]] const std::filesystem::path& home() const { return home_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  // With what this or another process has found out about it since.
  [[nodiscard]] Machine KnownMachine();
  // Keeps what is better than the figures kept so far.
  void KeepFigures(const Machine& measured);
  [[nodiscard]] const Builder& builder() const { return builder_; }
  [[nodiscard]] std::filesystem::path knowledge() const { return paths_.knowledge(); }
  [[nodiscard]] TorchServerOptions torch_options() const;

 private:
  Workbench(const Context& context, Jail jail, Store store, Machine machine, Seconds task_limit);
  std::optional<DeviceSeat> seat_;  // of the machine's device, where it was one of several
  Paths paths_;
  std::filesystem::path home_;
  Seconds task_limit_;
  Jail jail_;
  Store store_;
  Machine machine_;
  Builder builder_;
};

// One task on a workbench: its warm reference and the verifier over it; with VerifyOptions::shapes
// also those of its other shapes, on all of which each candidate is judged. Outlived by the
// workbench.
class TaskBench final {
 public:
  // `most`: what evaluations are expected to measure, which is made ready ahead of them; others
  // may measure more, and then wait for it.
  [[nodiscard]] static Result<std::unique_ptr<TaskBench>> Open(
      Workbench& bench, const std::filesystem::path& task, const VerifyOptions& options,
      Measure most = Measure::kEagerAndCompile);
  TaskBench(const TaskBench&) = delete;
  TaskBench& operator=(const TaskBench&) = delete;

  [[nodiscard]] const Task& task() const { return server_.task(); }
  [[nodiscard]] const std::string& header() const { return header_; }
  [[nodiscard]] TorchServer& server() { return server_; }
  [[nodiscard]] const VerifyOptions& options() const { return options_; }
  // Of the evaluations from now on; none: drawn after each build.
  void set_seed(const std::optional<Seed>& seed) { verifier_->set_seed(seed); }
  // Verifier::set_quick, on every shape.
  void set_quick(bool quick);
  // Verifier::set_more_to_come.
  void set_more_to_come(bool more) { verifier_->set_more_to_come(more); }
  // Takes over what other processes found out about the task meanwhile (lint, baselines).
  void Refresh();
  // Verifier::Evaluate, keeping the task's baseline for later runs.
  [[nodiscard]] Result<Evaluation> Evaluate(const Candidate& candidate, const Candidate* best,
                                            Measure measure, const Verifier::Progress& progress);
  // For the tuner, on the task as it is written; nothing is evaluated while it is there.
  [[nodiscard]] Result<VariantBench> OpenVariants() { return verifier_->OpenVariants(); }
  [[nodiscard]] Result<void> Sanitize(const Candidate& candidate, Evaluation& evaluation,
                                      const Verifier::Progress& progress);
  // Verifier::TimeByPaper, as the task is written.
  [[nodiscard]] Result<PaperTiming> TimeByPaper(const Candidate* candidate, bool compile,
                                                const Verifier::Progress& progress) {
    return verifier_->TimeByPaper(candidate, compile, progress);
  }
  // What to ask besides what is always asked.
  struct ProfileWish {
    std::vector<ForeignTool> tools;  // for processors
    bool full = false;               // for GPUs: all counters (profile/device_profiler.h)
  };
  // Of a passed candidate that is no plain Python, as the task is written. The evaluation's time is
  // the profile's.
  [[nodiscard]] Result<Profile> ProfileOf(const Candidate& candidate, const Evaluation& evaluation,
                                          const Verifier::Progress& progress) {
    return ProfileOf(candidate, evaluation, progress, {});
  }
  [[nodiscard]] Result<Profile> ProfileOf(const Candidate& candidate, const Evaluation& evaluation,
                                          const Verifier::Progress& progress,
                                          const ProfileWish& wish);
  // The verdict goes onto the task, and with it onto every result, now and in later runs.
  void KeepLint(const LintReport& report);
  // As kept by an earlier run, else linted now.
  [[nodiscard]] Result<void> EnsureLint(const VerifyProgress& progress);

 private:
  TaskBench(Workbench& bench, TorchServer server, const VerifyOptions& options);
  // The task's text with other sizes.
  struct OtherShape {
    ShapeSet set;
    TempDir file;
    std::unique_ptr<TaskBench> bench;
  };
  // What a profile on a device is made from. Borrowed.
  struct DeviceProfileWish {
    const Candidate& candidate;
    const BuiltKernel* kernel;  // of a CUDA candidate
    const Evaluation& evaluation;
    bool full;
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
  // Figures of another cache state, thread count, torch or machine are other figures.
  [[nodiscard]] std::string BaselineKey() const;
  [[nodiscard]] std::string LintKey() const;
  void LoadLint();
  void LoadBaseline();
  void SaveBaseline();

  Workbench& bench_;
  TorchServer server_;
  std::string header_;
  VerifyOptions options_;
  std::optional<Verifier> verifier_;  // made anew when the kernel's header changes
  std::vector<OtherShape> others_;
  std::string kept_;  // the baseline as the store has it
};

}  // namespace pragma
