// Service: where a hosted or local model is, and the key to use.
#pragma once

#include <string>

#include "base/result.h"
#include "llm/model.h"
#include "llm/wire.h"

namespace pragma {

// One endpoint. Its key is sent only to `base_url` and is never shown.
struct Service {
  Protocol protocol = Protocol::kOpenAi;
  std::string model;     // the NAME of "openai:NAME"
  std::string base_url;  // without a trailing slash
  std::string key;       // empty: no key is sent
};

// Builds a Service from the options, the environment (OPENAI_*, ANTHROPIC_*) and the public
// defaults. Fails with kUsage, which says what is missing or cannot be right.
[[nodiscard]] Result<Service> FindService(Protocol protocol, const std::string& model,
                                          const ModelOptions& options);

// Removes the key from a text. Services repeat keys in their error messages, which pragma puts into
// logs and records.
[[nodiscard]] std::string WithoutKey(const Service& service, std::string text);

// Returns what a refusal (a status of 400 or more) means for the user, in one line.
[[nodiscard]] std::string RefusalMessage(const Service& service, int status,
                                         const std::string& complaint);

// Returns whether the same request may succeed later: too many requests, too early, or a fault of
// the service itself.
[[nodiscard]] bool WorthRetrying(int status);

}  // namespace pragma
