// Replay: a recorded run driven again. ReplayRun lets the true loop, strategy and roles run on
// recorded replies and recorded evaluations; RemeasureRun judges the recorded candidates anew.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/roles.h"
#include "base/result.h"
#include "core/trial.h"
#include "llm/model.h"
#include "search/recording.h"
#include "search/session.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {

struct Agents {
  std::unique_ptr<Conductor> conductor;  // nullptr: the strategy has none
  std::unique_ptr<Coder> coder;
  std::unique_ptr<Coder> debugger;  // nullptr: the Coder repairs
};
// The models of a run, which outlive its roles; one may serve several of them. nullptr for a role
// that needs none.
struct AgentModels {
  Model* conductor = nullptr;
  Model* coder = nullptr;
  Model* debugger = nullptr;
};
// Builds the roles of a run.
using MakeAgents = std::function<Result<Agents>(const AgentModels&, const RunSettings&)>;
// The language-model ones, with the prompts of `prompt_dir`.
[[nodiscard]] MakeAgents ModelAgents(std::string prompt_dir);

struct ReplayParts {
  Store* store = nullptr;
  MakeAgents make_agents;
  SessionObserver observer;
};

struct ReplayResult {
  std::string run;  // the new one
  SessionResult session;
  bool same_tree = false;          // as the recorded one
  int reused = 0;                  // calls that an earlier, killed replay had committed already
  std::vector<std::string> notes;  // prompts that differ from the recorded ones
};

// Puts a new run into the store, with the recording as an artefact (the file may vanish then), and
// replays it without model, compiler or server. The run is finished in the store like the recorded
// one. An Error when the replies no longer lead to the recorded candidates.
[[nodiscard]] Result<ReplayResult> ReplayRun(const ReplayParts& parts, const Recording& recording);
// Goes on with a replay that was killed (RunSettings::recording is not empty).
[[nodiscard]] Result<ReplayResult> ResumeReplay(const ReplayParts& parts, const std::string& run);

struct Remeasured {
  Trial recorded;
  Trial fresh;  // the same attempt with a new evaluation, and `best` by it
};
struct RemeasureResult {
  std::vector<Remeasured> trials;  // those with a candidate, by node
  bool interrupted = false;        // the user stopped it: `trials` holds what was done
};
// Evaluates each recorded candidate in order, against the best of the fresh ones so far.
[[nodiscard]] Result<RemeasureResult> RemeasureRun(
    const Recording& recording, const Evaluate& evaluate,
    const std::function<void(const Remeasured&)>& on_trial = {});

}  // namespace pragma
