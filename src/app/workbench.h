// Workbench makes the parts of pragma that commands share, in order, from the flags. For the first
// part that cannot be made it returns a clear error.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "base/clock.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/judging.h"
#include "core/metric_table.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "store/store.h"
#include "task/torch_server.h"

namespace pragma {

struct RuleSet;

// Store keys of what is known about a machine have the form "machine/FINGERPRINT/THREADS".
inline constexpr std::string_view kMachineFigures = "machine/";

struct WorkbenchOptions {
  int threads = 0;  // 0: all that the machine has
  SandboxMode sandbox = SandboxMode::kBest;
  Language language = Language::kCpp;  // of the candidates; it decides which devices are looked for
  std::vector<std::string> devices;    // numbers to choose from; empty: the first
  Seconds build_limit{60};             // processor time of a compiler
  Seconds task_limit = TorchServerOptions{}.describe_limit;  // to import, build and describe a task
  bool timed = true;  // false: nothing is timed, so the machine's figures are not needed
};

// Returns the options of a workbench on which candidates are judged like this.
[[nodiscard]] WorkbenchOptions WorkbenchFor(const JudgingOptions& judging,
                                            SandboxMode sandbox = SandboxMode::kBest);

// Holds the jail, the store, the machine with its figures, and the builder. The figures are
// measured once per machine and kept in the store.
class Workbench final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Workbench>> Create(const AppContext& context,
                                                                 const WorkbenchOptions& options);
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  [[nodiscard]] const Jail& jail() const { return jail_; }
  [[nodiscard]] Store& store() { return store_; }
  [[nodiscard]] const std::filesystem::path& home() const { return home_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  // Returns the machine with what this or another process has found out about it since.
  [[nodiscard]] Machine KnownMachine();
  // Keeps those figures that are better than the figures kept so far.
  void KeepFigures(const Machine& measured);
  [[nodiscard]] const Builder& builder() const { return builder_; }
  [[nodiscard]] std::filesystem::path knowledge() const { return paths_.knowledge(); }
  [[nodiscard]] const MetricTable& metrics() const { return metrics_; }
  // Returns the rules of diagnosis for kernels in the language.
  [[nodiscard]] Result<RuleSet> RulesFor(Language language) const;
  [[nodiscard]] std::filesystem::path RulesFile(Language language) const;
  [[nodiscard]] TorchServerOptions torch_options() const;

 private:
  Workbench(const AppContext& context, Jail jail, Store store, Machine machine,
            const WorkbenchOptions& options);
  std::optional<DeviceSeat> seat_;  // a device of the machine, if it was chosen from several
  Paths paths_;
  std::filesystem::path home_;
  Seconds task_limit_;
  Jail jail_;
  Store store_;
  Machine machine_;
  Builder builder_;
  MetricTable metrics_;
};

}  // namespace pragma
