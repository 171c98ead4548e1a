// Which roles of a run are a language model's, and which the built-in expert's.
#pragma once

#include <map>
#include <string>

#include "cli/paths.h"
#include "expert/expert.h"
#include "search/replay.h"
#include "search/settings.h"

namespace pragma {

[[nodiscard]] bool IsExpert(const std::string& model_spec);

// The roles by RunSettings::conductor_model and coder_model; the expert's target processor is what
// the run was begun with.
[[nodiscard]] MakeAgents RunAgents(const Paths& paths);

// The target as one of RunSettings::options, and back.
void KeepTarget(const expert::KernelTarget& target, std::map<std::string, std::string>& options);
[[nodiscard]] expert::KernelTarget KeptTarget(const std::map<std::string, std::string>& options);

}  // namespace pragma
