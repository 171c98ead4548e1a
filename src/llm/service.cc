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

std::string FromEnvironment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? "" : std::string(Trim(value));
}

bool Printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

Result<Service> FindService(Protocol protocol, const std::string& model,
                            const ModelOptions& options) {
  const ProtocolNames& names = NamesOf(protocol);
  if (protocol != Protocol::kAnthropic && options.ask.thinking_tokens > 0) {
    return Fail(ErrorKind::kUsage,
                fmt::format("thinking_tokens is a setting of anthropic: models; use "
                            "reasoning_effort for {}:{}",
                            names.prefix, model));
  }
  Service service{.protocol = protocol, .model = model, .base_url = options.base_url};
  if (service.base_url.empty()) service.base_url = FromEnvironment(names.url_variable);
  const bool is_public = service.base_url.empty();
  if (is_public) service.base_url = names.public_url;
  while (service.base_url.ends_with('/')) service.base_url.pop_back();
  if (!service.base_url.starts_with("http://") && !service.base_url.starts_with("https://")) {
    return Fail(ErrorKind::kUsage,
                fmt::format("the base URL {} must begin with http:// or https:// (see {})",
                            UrlForMessages(service.base_url), names.url_variable));
  }
  service.key = FromEnvironment(names.key_variable);
  if (service.key.empty() && is_public) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} is not set: export it, or set {} to a service that needs no key",
                            names.key_variable, names.url_variable));
  }
  if (!Printable(service.key)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} holds spaces or control characters: no key looks like that",
                            names.key_variable));
  }
  if (!service.key.empty() && service.base_url.starts_with("http://") &&
      !IsLoopbackUrl(service.base_url)) {
    Log(LogLevel::kWarning, fmt::format("the key in {} goes to {} without encryption",
                                        names.key_variable, UrlForMessages(service.base_url)));
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

std::string RefusalMessage(const Service& service, int status, const std::string& complaint) {
  const std::string where = UrlForMessages(Endpoint(service.protocol, service.base_url));
  const ProtocolNames& names = NamesOf(service.protocol);
  if (status == 401 || status == 403) {
    return service.key.empty()
               ? fmt::format("{} wants a key ({}): set {} ({})", where, status, names.key_variable,
                             complaint)
               : fmt::format("{} refused the key ({}): check {} and that it may use model {} ({})",
                             where, status, names.key_variable, service.model, complaint);
  }
  if (status == 404) {
    return fmt::format("{} knows no model {} or no such path (404): check the name and {} ({})",
                       where, service.model, names.url_variable, complaint);
  }
  if (status == 407) {
    return fmt::format(
        "the proxy in {} wants a user name and a password (407): write "
        "http://USER:PASSWORD@HOST:PORT ({})",
        ProxyVariable(where), complaint);
  }
  return fmt::format("{} refused the request for model {} ({}): {}", where, service.model, status,
                     complaint);
}

bool WorthRetrying(int status) {
  constexpr std::array<int, 3> kRetried{408, 425, 429};
  for (const int retried : kRetried) {
    if (status == retried) return true;
  }
  return status >= 500;
}

}  // namespace pragma
