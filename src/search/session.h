// Session: one run, which is the loop of docs/design.md 7 over borrowed parts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/fd.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "search/budget.h"
#include "search/preset.h"
#include "search/seed_kernel.h"
#include "search/strategy.h"
#include "store/store.h"

namespace pragma {

// Judges one candidate. It may replace the candidate by the variant that a tuner chose. Real runs
// pass the Verifier, and replay passes the recorded evaluation of the node. It is a function and
// not an interface, because it has one call and no state of its own.
using Evaluate =
    std::function<Result<Evaluation>(Candidate& candidate, const Trial* best, int node)>;

// Runs the sanitizers on a candidate that is about to become the best, and returns its amended
// evaluation. It runs in a separate thread in parallel with the next model call, whose prompt
// assumes that the candidate passes.
using Confirm =
    std::function<Result<Evaluation>(const Candidate& candidate, const Evaluation& evaluation)>;

// Profiles a passed candidate, where the strategy uses profiles. Returns the measurements, their
// interpretation, and a comparison with `best`.
using Observe = std::function<Result<Profile>(
    const Candidate& candidate, const Evaluation& evaluation, const Trial* best, int node)>;

// Performs in advance, in the attempt's own thread, the work that can overlap with judging other
// attempts. This is the build, whose result the evaluation reuses.
using Prepare = std::function<void(const Candidate& candidate)>;

// Receives progress reports of a run. Every member may be empty. Several threads may call
// `on_phase`.
struct SessionObserver {
  std::function<void(int attempt, std::string_view phase)>
      on_phase;  // "conductor", "coder", "build", "check", "time", "profile"
  std::function<void(const Trial&, const SearchTree&)> on_trial;
  // As soon as a candidate is the best: before its profile and its sanitizers, which take time.
  // Where a sanitizer rejects it, on_trial says so.
  std::function<void(const Trial&)> on_best;
};

struct SessionParts {
  Store* store = nullptr;
  Strategy* strategy = nullptr;
  Conductor* conductor = nullptr;  // may be nullptr
  Coder* coder = nullptr;
  Coder* debugger = nullptr;  // nullptr: the Coder repairs
  Clock* clock = nullptr;
  Evaluate evaluate;
  Observe observe;  // may be empty
  Confirm confirm;  // may be empty
  Prepare prepare;  // may be empty
  std::vector<SeedKernel> seeds;
  // Number of concurrent attempts. Attempt t is decided when the first t - jobs attempts have
  // ended, whatever the order in which the others end. Attempts are judged one after the other.
  int jobs = 1;
  // No attempt is begun that would hardly end before it, and nothing is profiled shortly before it.
  Deadline deadline;
  bool overlap = true;  // false: one call at a time even with jobs > 1, for a replay
  const Task* task = nullptr;
  const std::string* kernel_header = nullptr;
  const MachineSummary* machine = nullptr;
  SessionObserver observer;
  const ExampleKernel* example = nullptr;  // may be nullptr
  std::string advice_from_user;            // shown in every prompt; may be empty
  int shown_attempts = 0;                  // "attempt 3 of ..." in prompts; 0: that of the budget
  int most_without_code = 3;               // so many attempts in a row end the run; 0: none do
};

struct SessionResult {
  SearchTree tree;
  StopReason stopped = StopReason::kNone;
  std::string why;               // in words, where `stopped` does not say all
  std::optional<Error> failure;  // the model's, if that ended the run; `why` is its message
  Spent spent;
  UniqueFd hold;  // from Store::LockRun: excludes others until the caller has finished the run
};

// Runs until a stopping rule holds. Attempts under way are then dropped. It starts from whatever
// the store already has of the run, so resuming is the same call. Each trial is on disk before the
// next one begins. The run stays "running" in the store: the caller measures the best again and
// then calls Store::FinishRun (but not after an Error, so that the run can be resumed). Only one
// process works on a run at a time.
[[nodiscard]] Result<SessionResult> RunSession(const std::string& run, const SessionParts& parts,
                                               const Preset& preset, const Budget& budget);

}  // namespace pragma
