// Settings of one model from pragma.toml.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "llm/model.h"

namespace pragma {

// Reads [models."NAME"]: usd_per_million_in, usd_per_million_out, base_url, timeout_seconds,
// max_retries. `name` is the whole "openai:gpt-x"; a section named so wins over one named "gpt-x".
// A missing file or section gives the defaults; a wrong or unknown setting is kUsage.
[[nodiscard]] Result<ModelOptions> ModelOptionsFromToml(const std::filesystem::path& path,
                                                        const std::string& name);

}  // namespace pragma
