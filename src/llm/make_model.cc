// A model from its name on the command line, with what the environment says.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "llm/model.h"
#include "llm/models.h"
#include "llm/wire.h"

namespace pragma {
namespace {

constexpr std::string_view kForms =
    "openai:NAME, anthropic:NAME, command:'CMD', handoff:DIR or replay:FILE";

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

Result<std::unique_ptr<Model>> MakeService(const ServiceDefaults& defaults,
                                           const std::string& model, const ModelOptions& options,
                                           Clock& clock) {
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
  return MakeServiceModel(std::move(service), options, clock);
}

// command:'CMD' as written in a settings file, where no shell takes the quotes away.
std::string WithoutQuotes(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == '\'' && text.back() == '\'' &&
                      std::ranges::count(text, '\'') == 2;
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

Result<std::unique_ptr<Model>> MakeModel(const std::string& spec, const ModelOptions& options,
                                         Clock& clock) {
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (Trim(rest).empty()) {
    return Fail(ErrorKind::kUsage, fmt::format("no model \"{}\": give {}", spec, kForms));
  }
  if (kind == "openai") return MakeService(kOpenAi, rest, options, clock);
  if (kind == "anthropic") return MakeService(kAnthropic, rest, options, clock);
  if (kind == "command") return MakeCommandModel(WithoutQuotes(rest), options, clock);
  if (kind == "handoff") return MakeHandoffModel(rest, options, clock);
  if (kind == "replay") return MakeReplayModel(rest);
  return Fail(ErrorKind::kUsage,
              fmt::format(R"(no kind of model "{}" in "{}": give {})", kind, spec, kForms));
}

}  // namespace pragma
