#include "app/agents.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "app/paths.h"
#include "base/result.h"
#include "core/metric_table.h"
#include "expert/expert.h"
#include "knowledge/entry.h"
#include "llm/model.h"
#include "search/agents.h"
#include "search/settings.h"

namespace pragma {
namespace {

constexpr const char* kOption = "expert_target";

}  // namespace

bool IsExpert(const std::string& model_spec) { return model_spec == expert::kExpertModel; }

MakeAgents RunAgents(const Paths& paths, const MetricTable& metrics) {
  return [prompts = paths.prompts().string(), knowledge = paths.knowledge(), metrics](
             const AgentModels& models, const RunSettings& settings) -> Result<Agents> {
    const bool conducts = IsExpert(settings.conductor_model);
    const bool codes = IsExpert(settings.coder_model);
    const AgentModels asked{
        .conductor = conducts ? nullptr : models.conductor,
        .coder = codes ? nullptr : models.coder,
        .debugger = IsExpert(settings.debugger_model) ? nullptr : models.debugger};
    Agents agents = TRY(ModelAgents(prompts, metrics)(asked, settings));
    if (settings.preset.conductor && conducts)
      agents.conductor =
          expert::MakeExpertConductor(TRY(LoadCompendium(knowledge)), KeptTarget(settings.options));
    if (codes)
      agents.coder = expert::MakeExpertCoder(KeptTarget(settings.options), settings.language);
    return agents;
  };
}

void KeepTarget(const expert::KernelTarget& target, std::map<std::string, std::string>& options) {
  options[kOption] =
      fmt::format("{} {} {} {} {} {} {}", target.threads, target.lanes, target.registers,
                  target.private_cache_bytes, target.shared_cache_bytes, target.clang ? 1 : 0,
                  target.block_shared_bytes);
}

expert::KernelTarget KeptTarget(const std::map<std::string, std::string>& options) {
  expert::KernelTarget target;
  const auto kept = options.find(kOption);
  if (kept == options.end()) return target;
  const char* text = kept->second.c_str();
  const auto next = [&text] {
    char* end = nullptr;
    const std::int64_t value = std::strtoll(text, &end, 10);
    text = end;
    return value;
  };
  target.threads = static_cast<int>(next());
  target.lanes = static_cast<int>(next());
  target.registers = static_cast<int>(next());
  target.private_cache_bytes = next();
  target.shared_cache_bytes = next();
  // Older runs did not store these.
  if (*text != '\0') target.clang = next() != 0;
  if (*text != '\0') target.block_shared_bytes = next();
  return target;
}

}  // namespace pragma
