#include "task/island_cut.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/islands.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

JsonWriter Asking(std::string_view operation) {
  JsonWriter request;
  request.BeginObject().Field("op", operation);
  return request;
}

IslandTask ReadIsland(const JsonReader& value) {
  IslandTask island;
  value.Require("source", island.source);
  value.Get("arguments", island.arguments);
  value.Get("outputs", island.outputs);
  return island;
}

IslandStep ReadStep(const JsonReader& value) {
  IslandStep step;
  value.Require("island", step.island);
  value.Get("line", step.line);
  return step;
}

// The server's reply is untrusted.
Result<void> CheckCut(const IslandCut& cut, std::size_t islands) {
  if (cut.islands.size() != islands) return Fail("the server cut another number of islands");
  for (const IslandStep& step : cut.steps)
    if (step.island >= static_cast<int>(islands))
      return Fail("the server named an island too many");
  return {};
}

}  // namespace

Result<IslandCut> CutIslands(TorchServer& server, std::span<const Island> islands) {
  JsonWriter request = Asking("cut_islands");
  request.Key("islands").BeginArray();
  for (const Island& island : islands) request.Value(island.nodes);
  request.EndArray();
  const JsonReader reply = TRY(server.Ask(request, {}, "cutting its graph into islands"));
  IslandCut cut;
  for (const JsonReader& value : reply["islands"].items()) cut.islands.push_back(ReadIsland(value));
  for (const JsonReader& value : reply["steps"].items()) cut.steps.push_back(ReadStep(value));
  reply.Get("results", cut.results);
  TRY(reply.status());
  TRY(CheckCut(cut, islands.size()));
  return cut;
}

Result<std::map<std::string, double>> OperatorSeconds(TorchServer& server) {
  JsonWriter request = Asking("operator_seconds");
  const JsonReader reply = TRY(server.Ask(request, {}, "timing its operators"));
  std::map<std::string, double> seconds;
  reply.Get("seconds", seconds);
  TRY(reply.status());
  return seconds;
}

}  // namespace pragma
