// Replay: repeats a recorded run. ReplayRun runs the real loop, strategy and roles on recorded
// replies and recorded evaluations. RemeasureRun judges the recorded candidates again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/trial.h"
#include "search/agents.h"
#include "search/recording.h"
#include "search/session.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {

struct ReplayParts {
  Store* store = nullptr;
  MakeAgents make_agents;
  SessionObserver observer;
};

struct ReplayResult {
  std::string run;  // id of the new run
  SessionResult session;
  bool same_tree = false;          // true: the tree equals the recorded one
  int reused = 0;                  // calls that an earlier, killed replay had already committed
  std::vector<std::string> notes;  // prompts that differ from the recorded ones
};

// Adds a new run to the store, with the recording as an artefact (the file may be deleted
// afterwards), and replays it without model, compiler or server. The run is finished in the store
// like the recorded one. It is an error if the replies no longer lead to the recorded candidates.
[[nodiscard]] Result<ReplayResult> ReplayRun(const ReplayParts& parts, const Recording& recording);
// Resumes a replay that was killed (RunSettings::recording is not empty).
[[nodiscard]] Result<ReplayResult> ResumeReplay(const ReplayParts& parts, const std::string& run);

struct Remeasured {
  Trial recorded;
  Trial fresh;  // the same attempt with a new evaluation and its own `best`
};
struct RemeasureResult {
  std::vector<Remeasured> trials;  // trials with a candidate, by node
  bool interrupted = false;        // the user stopped it: `trials` holds those done
};
// Evaluates each recorded candidate in order, against the best newly evaluated one so far.
[[nodiscard]] Result<RemeasureResult> RemeasureRun(
    const Recording& recording, const Evaluate& evaluate,
    const std::function<void(const Remeasured&)>& on_trial = {});

}  // namespace pragma
