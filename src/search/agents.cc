#include <memory>
#include <string>
#include <utility>

#include "agent/roles.h"
#include "base/result.h"
#include "llm/model.h"
#include "search/replay.h"
#include "search/settings.h"

namespace pragma {

MakeAgents ModelAgents(std::string prompt_dir) {
  return [dir = std::move(prompt_dir)](Model* conductor, Model* coder,
                                       const RunSettings& settings) -> Result<Agents> {
    Agents agents;
    const PromptSet prompts = Prompts(settings);
    if (settings.preset.conductor) {
      agents.conductor =
          TRY(MakeModelConductor(*conductor, dir, prompts, ConductorSettings(settings)));
    }
    agents.coder = TRY(MakeModelCoder(*coder, dir, prompts, CoderSettings(settings)));
    return agents;
  };
}

}  // namespace pragma
