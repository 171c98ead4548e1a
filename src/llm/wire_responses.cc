// OpenAI's responses.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/json_dump.h"
#include "llm/json_fields.h"
#include "llm/model.h"
#include "llm/protocols.h"
#include "llm/quirks.h"
#include "llm/wire.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

void AddItem(Completion& completion, const Json& item, std::string& tool) {
  const std::string type = TextOf(At(item, "type"));
  if (type == "message") {
    completion.text += PartsOf(At(item, "content"), "output_text", "text");
    if (completion.text.empty())
      completion.text = PartsOf(At(item, "content"), "refusal", "refusal");
  } else if (type == "reasoning") {
    completion.reasoning += PartsOf(At(item, "summary"), "summary_text", "text");
    completion.reasoning += PartsOf(At(item, "content"), "reasoning_text", "text");
  } else if (type == "function_call") {
    tool = TextOf(At(item, "name"));
    completion.text += ToolCallAsText(TextOf(At(item, "arguments")));
  }
}

Result<Completion> FromResponse(const Json& body) {
  const Json& output = At(body, "output");
  if (!output.is_array()) return Fail(ErrorKind::kUnavailable, "the reply has no \"output\"");
  Completion completion;
  std::string tool;
  for (const Json& item : output) AddItem(completion, item, tool);
  completion.model = TextOf(At(body, "model"));
  const Json& usage = At(body, "usage");
  completion.tokens_in = CountOf(At(usage, "input_tokens"));
  completion.tokens_out = CountOf(At(usage, "output_tokens"));
  completion.tokens_cached = CountOf(At(At(usage, "input_tokens_details"), "cached_tokens"));
  const std::string why = TextOf(At(At(body, "incomplete_details"), "reason"));
  completion.truncated = why == "max_output_tokens";
  ExplainMissingText(completion, why.empty() ? TextOf(At(body, "status")) : why, tool);
  return completion;
}

}  // namespace

std::string ResponsesBody(const WireRequest& request, const Quirks& quirks) {
  const AskOptions& options = request.options;
  Json list = Json::array();
  for (const Message& message :
       quirks.no_system ? WithSystemFolded(request.messages) : request.messages) {
    list.push_back(Json{{"role", message.role}, {"content", message.text}});
  }
  Json body{{"model", request.model},
            {"input", std::move(list)},
            {"max_output_tokens", request.sampling.max_tokens},
            {"temperature", request.sampling.temperature},
            {"stream", quirks.stream.value_or(options.stream)},
            {"store", false}};  // each request holds its whole conversation
  if (options.top_p) body["top_p"] = *options.top_p;
  if (!options.reasoning_effort.empty()) body["reasoning"] = {{"effort", options.reasoning_effort}};
  for (const std::string& member : quirks.refused) body.erase(member);
  return Dump(body);
}

Result<Completion> ResponsesReply(std::string_view body) {
  return FromResponse(Json::parse(body, nullptr, false));
}

// The last event holds the whole response. The items of those in front of it are kept for services
// that leave them out there.
Result<Completion> ResponsesStream(const std::vector<std::string>& events) {
  Json items = Json::array();
  for (const std::string& text : events) {
    TRY(CheckEvent(text));
    const Json event = Json::parse(text, nullptr, false);
    const std::string type = TextOf(At(event, "type"));
    if (type == "response.output_item.done") items.push_back(At(event, "item"));
    if (type != "response.completed" && type != "response.incomplete") continue;
    Json response = At(event, "response");
    if (!At(response, "output").is_array() || response["output"].empty())
      response["output"] = items;
    return FromResponse(response);
  }
  return CutStream();
}

}  // namespace pragma
