// Decides which roles of a run a language model plays, and which the built-in expert plays.
#pragma once

#include <map>
#include <string>

#include "app/paths.h"
#include "core/metric_table.h"
#include "expert/expert.h"
#include "search/agents.h"

namespace pragma {

[[nodiscard]] bool IsExpert(const std::string& model_spec);

// Makes the roles that RunSettings::conductor_model and coder_model name. The expert targets the
// processor that the run was begun with.
[[nodiscard]] MakeAgents RunAgents(const Paths& paths, const MetricTable& metrics);

// Stores the expert's target processor among RunSettings::options, and reads it back.
void KeepTarget(const expert::KernelTarget& target, std::map<std::string, std::string>& options);
[[nodiscard]] expert::KernelTarget KeptTarget(const std::map<std::string, std::string>& options);

}  // namespace pragma
