// What the protocols have in common.
#include "llm/protocols.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "llm/json_fields.h"
#include "llm/model.h"
#include "llm/wire.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFence = "\n~~~~~\n";  // code in arguments may hold shorter fences

}  // namespace

std::vector<Message> WithSystemFolded(const std::vector<Message>& messages) {
  std::string system;
  std::vector<Message> folded;
  for (const Message& message : messages) {
    if (message.role == "system") {
      system += message.text + "\n\n";
    } else {
      folded.push_back({.role = message.role, .text = std::exchange(system, {}) + message.text});
    }
  }
  return folded;
}

std::string ToolCallAsText(std::string_view arguments) {
  const Json json = Json::parse(arguments, nullptr, false);
  std::string text;
  if (!json.is_object()) return text;
  for (const auto& [name, value] : json.items()) {
    const std::string argument = TextOf(value);
    if (argument.find('\n') == std::string::npos) continue;
    text += fmt::format("{}{}{}", kFence, argument, kFence);
  }
  return text;
}

void ExplainMissingText(Completion& completion, const std::string& finish,
                        const std::string& tool) {
  if (!Trim(completion.text).empty()) return;
  if (!tool.empty()) {
    completion.problem = fmt::format("the reply calls a tool ({}) and has no text", tool);
  } else if (completion.truncated) {
    completion.problem =
        "the reply is empty: its whole length went into reasoning; raise max_tokens or lower "
        "reasoning_effort of the model in pragma.toml";
  } else if (finish == "content_filter" || finish == "refusal") {
    completion.problem = fmt::format("the service withheld the reply ({})", finish);
  } else {
    completion.problem = fmt::format("the reply is empty{}{}",
                                     completion.reasoning.empty() ? "" : " except for reasoning",
                                     finish.empty() ? "" : fmt::format(" ({})", finish));
  }
}

Result<void> CheckEvent(std::string_view event) {
  const Json json = Json::parse(event, nullptr, false);
  const std::string type = TextOf(At(json, "type"));
  const bool failed = !At(json, "error").is_null() || type == "error" || type == "response.failed";
  if (!failed) return {};
  const Json& response = At(json, "response");
  return Fail(
      ErrorKind::kUnavailable,
      "the service failed in the middle of its reply: " +
          ServiceComplaint(response.is_null()
                               ? std::string(event)
                               : response.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

std::unexpected<Error> CutStream() {
  return Fail(ErrorKind::kUnavailable, "the reply's stream ended in the middle");
}

}  // namespace pragma
