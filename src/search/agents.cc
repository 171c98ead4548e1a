#include "search/agents.h"

#include <memory>
#include <string>
#include <utility>

#include "agent/roles.h"
#include "base/result.h"
#include "core/metric_table.h"
#include "search/settings.h"

namespace pragma {

MakeAgents ModelAgents(std::string prompt_dir, MetricTable metrics) {
  return [dir = std::move(prompt_dir), metrics = std::move(metrics)](
             const AgentModels& models, const RunSettings& settings) -> Result<Agents> {
    Agents agents;
    const PromptSet prompts = Prompts(settings);
    if (settings.preset.conductor && models.conductor != nullptr) {
      RoleSettings role = ConductorSettings(settings);
      role.metrics = metrics;  // only the Conductor is shown profiles
      agents.conductor = TRY(MakeModelConductor(*models.conductor, dir, prompts, role));
    }
    if (models.coder != nullptr)
      agents.coder = TRY(MakeModelCoder(*models.coder, dir, prompts, CoderSettings(settings)));
    if (settings.preset.debugger && models.debugger != nullptr) {
      agents.debugger = TRY(MakeModelCoder(*models.debugger, dir, DebuggerPrompts(settings),
                                           DebuggerSettings(settings)));
    }
    return agents;
  };
}

}  // namespace pragma
