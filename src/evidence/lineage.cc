#include "evidence/lineage.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/json_dump.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "store/store.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

Ancestor AncestorOf(const Trial& trial) {
  return {.node = trial.node,
          .parent = trial.parent,
          .author = WithoutPlace(trial.author),
          .candidate = trial.candidate ? trial.candidate->id() : "",
          .status = trial.evaluation.status,
          .speedup_eager = trial.evaluation.speedup_eager};
}

// Returns the JSON as one line with sorted names, independent of the stored layout. For a
// completion it adds the name of the model.
std::string Compact(const std::string& json) {
  Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return "null";
  if (value.is_object() && value.contains("model") && value["model"].is_string())
    value["model"] = WithoutPlace(value["model"].get<std::string>());
  return Dump(value);
}

LineageCall CallOf(const CallRecord& call) {
  return {.role = call.role,
          .ordinal = call.ordinal,
          .model = WithoutPlace(call.model),
          .messages = Compact(call.prompt_json),
          .completion = Compact(call.completion_json)};
}

}  // namespace

Result<Lineage> MakeLineage(const Store& store, const RunRecord& run, const SearchTree& tree,
                            const Trial& trial) {
  Lineage lineage{.run = run.id,
                  .strategy = run.strategy,
                  .node = trial.node,
                  .role = std::string(RoleName(trial.role)),
                  .author = WithoutPlace(trial.author),
                  .advice = trial.advice,
                  .ancestors = {},
                  .calls = {}};
  if (trial.parent > 0) {
    for (const int node : tree.PathTo(trial.parent))
      lineage.ancestors.push_back(AncestorOf(tree.at(node)));
  }
  for (const CallRecord& call : TRY(store.Calls(run.id))) {
    if (call.node == trial.node) lineage.calls.push_back(CallOf(call));
  }
  return lineage;
}

std::string WithoutPlace(std::string_view author) {
  for (const std::string_view kind : {"handoff", "command", "replay"}) {
    const std::size_t at = author.find(std::string(kind) + ":");
    const bool begins = at == 0 || (at != std::string_view::npos && author[at - 1] == ' ');
    if (begins) return std::string(author.substr(0, at + kind.size()));
  }
  return std::string(author);
}

}  // namespace pragma
