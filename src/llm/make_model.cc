// Makes a model from its name on the command line.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "llm/model.h"
#include "llm/models.h"
#include "llm/service.h"
#include "llm/wire.h"

namespace pragma {
namespace {

constexpr std::string_view kForms =
    "expert (built in), openai:NAME, responses:NAME, anthropic:NAME, command:'CMD', handoff:DIR or "
    "replay:FILE";

Result<std::unique_ptr<Model>> MakeService(Protocol protocol, const std::string& model,
                                           const ModelOptions& options, Clock& clock) {
  return MakeServiceModel(TRY(FindService(protocol, model, options)), options, clock);
}

// Removes the quotes of command:'CMD' as written in a settings file, where no shell removes them.
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
  for (const Protocol protocol : {Protocol::kOpenAi, Protocol::kAnthropic, Protocol::kResponses}) {
    if (kind == NamesOf(protocol).prefix) return MakeService(protocol, rest, options, clock);
  }
  if (kind == "command") return MakeCommandModel(WithoutQuotes(rest), options, clock);
  if (kind == "handoff") return MakeHandoffModel(rest, options, clock);
  if (kind == "replay") return MakeReplayModel(rest);
  return Fail(ErrorKind::kUsage,
              fmt::format(R"(no kind of model "{}" in "{}": give {})", kind, spec, kForms));
}

}  // namespace pragma
