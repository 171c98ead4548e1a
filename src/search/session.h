// Session: one run. The loop of docs/design.md 7 over borrowed parts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/search_tree.h"
#include "search/preset.h"
#include "search/strategy.h"
#include "store/store.h"

namespace pragma {

struct Budget {
  int attempts = 15;
  double seconds = 0;  // 0: unlimited, likewise below
  std::int64_t tokens = 0;
  double usd = 0;
};

// Judges one candidate, which becomes the variant of itself that a tuner chose. Real runs pass the
// Verifier; replay passes the recorded evaluation of the node. A function rather than an interface:
// one call, no state of its own.
using Evaluate =
    std::function<Result<Evaluation>(Candidate& candidate, const Trial* best, int node)>;

// Sanitizers, for a candidate that is about to become the best: returns its evaluation, amended. It
// runs in a thread of its own beside the next call of a model, whose prompt takes it as passed.
using Confirm =
    std::function<Result<Evaluation>(const Candidate& candidate, const Evaluation& evaluation)>;

// For a passed candidate, where the strategy uses profiles: what was measured and what it means,
// with its judgement against `best`.
using Observe = std::function<Result<Profile>(
    const Candidate& candidate, const Evaluation& evaluation, const Trial* best, int node)>;

// Does beforehand, in the thread of the attempt, what can be done beside the judging of others: the
// build, whose result the evaluation finds again.
using Prepare = std::function<void(const Candidate& candidate)>;

// A kernel that a run begins with, before any author is asked.
struct SeedKernel {
  Candidate candidate;
  std::string author;  // "expert", "run r-..."
};

// What a run reports while it goes on; every member may be empty.
// `on_phase` may be called by several threads.
struct SessionObserver {
  std::function<void(int attempt, std::string_view phase)>
      on_phase;  // "conductor", "coder", "build", "check", "time", "profile"
  std::function<void(const Trial&, const SearchTree&)> on_trial;
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
  // Attempts under way at once: attempt t is decided on when t - jobs have ended, whatever the
  // order in which the others do. They are judged one after the other.
  int jobs = 1;
  bool overlap = true;  // false: with jobs > 1 as well one call at a time, for a replay
  const Task* task = nullptr;
  const std::string* kernel_header = nullptr;
  const MachineSummary* machine = nullptr;
  SessionObserver observer;
  const ExampleKernel* example = nullptr;  // may be nullptr
  std::string advice_from_user;            // shown in every prompt; may be empty
  int shown_attempts = 0;                  // "attempt 3 of ..." in prompts; 0: the budget's
};

struct SessionResult {
  SearchTree tree;
  std::string stopped;  // "budget", "roofline", "stall", "advice", "interrupted"
  Spent spent;
  UniqueFd hold;  // Store::LockRun: keeps others off until the caller has finished the run
};

// Runs until a stopping rule holds (attempts under way are then dropped); starts from whatever the
// store already has of the run (resume is the same call). A trial is on disk before the next
// begins. The run stays "running" in the store: the caller measures the best again and calls
// Store::FinishRun (after an Error it does not, so that the run can be resumed). Only one process
// works on a run at a time.
[[nodiscard]] Result<SessionResult> RunSession(const std::string& run, const SessionParts& parts,
                                               const Preset& preset, const Budget& budget);

}  // namespace pragma
