#include "llm/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "llm/model.h"
#include "llm/wire.h"

namespace pragma {
namespace {

constexpr std::size_t kShortestSecret = 8;  // bytes of the shortest key that is treated as secret

struct ServiceDefaults {
  Protocol protocol;
  const char* key_variable;
  const char* url_variable;
  const char* public_url;
};
constexpr ServiceDefaults kOpenAi{Protocol::kOpenAi, "OPENAI_API_KEY", "OPENAI_BASE_URL",
                                  "https://api.openai.com/v1"};
constexpr ServiceDefaults kAnthropic{Protocol::kAnthropic, "ANTHROPIC_API_KEY",
                                     "ANTHROPIC_BASE_URL", "https://api.anthropic.com"};

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : std::string(Trim(value));
}

bool Printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

Result<Service> FindService(Protocol protocol, const std::string& model,
                            const ModelOptions& options) {
  const ServiceDefaults& defaults = protocol == Protocol::kOpenAi ? kOpenAi : kAnthropic;
  Service service{.protocol = defaults.protocol, .model = model, .base_url = options.base_url};
  if (service.base_url.empty()) service.base_url = FromEnvironment(defaults.url_variable);
  const bool is_public = service.base_url.empty();
  if (is_public) service.base_url = defaults.public_url;
  while (service.base_url.ends_with('/')) service.base_url.pop_back();
  if (!service.base_url.starts_with("http://") && !service.base_url.starts_with("https://")) {
    return Fail(ErrorKind::kUsage,
                fmt::format("the base URL {} must begin with http:// or https:// (see {})",
                            UrlForMessages(service.base_url), defaults.url_variable));
  }
  service.key = FromEnvironment(defaults.key_variable);
  if (service.key.empty() && is_public) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} is not set: export it, or set {} to a service that needs no key",
                            defaults.key_variable, defaults.url_variable));
  }
  if (!Printable(service.key)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} holds spaces or control characters: no key looks like that",
                            defaults.key_variable));
  }
  if (!service.key.empty() && service.base_url.starts_with("http://") &&
      !IsLoopbackUrl(service.base_url)) {
    Log(LogLevel::kWarning, fmt::format("the key in {} goes to {} without encryption",
                                        defaults.key_variable, UrlForMessages(service.base_url)));
  }
  return service;
}

// Removes the key from a text. A placeholder such as "none" or "ollama" is not a secret, and
// removing it would garble the message.
std::string WithoutKey(const Service& service, std::string text) {
  if (service.key.size() < kShortestSecret) return text;
  for (std::size_t at = text.find(service.key); at != std::string::npos;
       at = text.find(service.key, at)) {
    text.replace(at, service.key.size(), "[key]");
  }
  return text;
}

bool WorthRetrying(int status) {
  constexpr std::array<int, 3> kRetried{408, 425, 429};
  for (const int retried : kRetried) {
    if (status == retried) return true;
  }
  return status >= 500;
}

}  // namespace pragma
