// Executor: where one candidate is built, checked and timed, either on the processors
// (HostExecutor) or on a GPU (DeviceExecutor). It starts processes and holds the machine. It
// decides nothing: EvaluateOn, CheckValues and the timing check do, with any executor.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/environment.h"
#include "machine/load_reader.h"
#include "machine/machine.h"
#include "task/torch_server.h"
#include "verify/baseline.h"
#include "verify/checked_calls.h"
#include "verify/input_sets.h"
#include "verify/options.h"
#include "verify/timed_sides.h"
#include "verify/timing_run.h"

namespace pragma {

struct Evaluation;
struct Judging;

// How timing differs between processors and a GPU, where it must.
struct TimingRules {
  // Processes take seconds to start, and launches overlap. All sides are timed in one session,
  // torch.compile among them, and the processors that a process uses are not accounted.
  bool on_device = false;
  // The allocator settings with which Torch's sides are tried. The faster one is the baseline.
  std::vector<Allocator> allocators = {Allocator::kDefault};
  ProcessorShare processors = {};
  // Reads how busy the machine is. Empty: nothing is done about other programs.
  std::function<LoadReading()> load = {};
};

class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  // Makes ready what every evaluation needs. Called first.
  [[nodiscard]] virtual Result<void> Prepare(Evaluation& /*evaluation*/) { return {}; }
  [[nodiscard]] virtual InputSets& sets() = 0;
  [[nodiscard]] virtual const VerifyOptions& options() const = 0;
  [[nodiscard]] virtual const Machine& machine() const = 0;
  [[nodiscard]] virtual TimingRules rules() const = 0;
  [[nodiscard]] virtual Clock& clock() = 0;
  [[nodiscard]] virtual Environment Describe(Language language) const = 0;
  // Why nothing can be timed here. Empty: it can.
  [[nodiscard]] virtual std::string CannotTime() const { return {}; }

  // Builds the candidate. nullptr: it was rejected (the evaluation says why). BuildBest builds the
  // present best, which is timed against; nullptr: it no longer builds (`rejection` says why) and
  // is left out. Both stay valid.
  [[nodiscard]] virtual Result<const BuiltKernel*> Build(const Candidate& candidate,
                                                         Evaluation& evaluation) = 0;
  [[nodiscard]] virtual Result<const BuiltKernel*> BuildBest(const Candidate& best,
                                                             Evaluation& rejection) = 0;
  // Returns the calls of one check of the built candidate. They end with the result.
  [[nodiscard]] virtual std::unique_ptr<CheckedCalls> Calls(Judging& judging) = 0;
  // Returns the sides of one timing session, which end with the session.
  [[nodiscard]] virtual Result<TimedSides*> Sides(const std::vector<Side>& sides) = 0;
  virtual void EndSession() = 0;

  // Share the machine, or take it alone for timing; the evaluation records how long it waited.
  [[nodiscard]] virtual Result<void> Share() = 0;
  [[nodiscard]] virtual Result<void> BeAlone(Evaluation& evaluation) = 0;
  virtual void Leave() = 0;
  // Measures again what the hard bound is made of, and keeps the better figures. Does nothing where
  // they are not measured: a GPU's are clock times width.
  [[nodiscard]] virtual Result<void> MeasureAgain() = 0;
  // Completed by timing where there are several allocator settings.
  [[nodiscard]] virtual std::optional<TaskBaseline>& baseline() = 0;
};

}  // namespace pragma
