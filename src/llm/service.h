// Service: where a hosted or local model is and who asks.
#pragma once

#include <string>

#include "base/result.h"
#include "llm/model.h"
#include "llm/wire.h"

namespace pragma {

// The key is only ever sent to `base_url` and never shown.
struct Service {
  Protocol protocol = Protocol::kOpenAi;
  std::string model;     // the NAME of "openai:NAME"
  std::string base_url;  // without a slash at the end
  std::string key;       // empty: none is sent
};

// From the options, the environment (OPENAI_*, ANTHROPIC_*) and the public defaults; kUsage says
// what is missing or cannot be right.
[[nodiscard]] Result<Service> FindService(Protocol protocol, const std::string& model,
                                          const ModelOptions& options);

// Services echo keys in their complaints; ours go to logs and records.
[[nodiscard]] std::string WithoutKey(const Service& service, std::string text);

// Whether the same request may succeed later: too many, too early, or the service's own trouble.
[[nodiscard]] bool WorthRetrying(int status);

}  // namespace pragma
