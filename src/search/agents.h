// Agents: the roles of a run, and how they are made from its settings.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/roles.h"
#include "base/result.h"
#include "core/metric_table.h"
#include "llm/model.h"

namespace pragma {

struct RunSettings;

struct Agents {
  std::unique_ptr<Conductor> conductor;  // nullptr: the strategy has none
  std::unique_ptr<Coder> coder;
  std::unique_ptr<Coder> debugger;  // nullptr: the Coder repairs
};
// The models of a run, which must outlive its roles. One model may serve several roles. It is
// nullptr for a role that needs none.
struct AgentModels {
  Model* conductor = nullptr;
  Model* coder = nullptr;
  Model* debugger = nullptr;
};
// Builds the roles of a run.
using MakeAgents = std::function<Result<Agents>(const AgentModels&, const RunSettings&)>;
// Returns the roles that ask language models, with the prompts of `prompt_dir`.
[[nodiscard]] MakeAgents ModelAgents(std::string prompt_dir, MetricTable metrics);

}  // namespace pragma
