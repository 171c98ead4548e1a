#include "task/island_cut.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/islands.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

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

Result<JsonReader> AskAbout(TorchServer& server, std::string_view operation,
                            std::span<const Island> islands, const std::string& what) {
  JsonWriter request = ServerRequest(operation);
  request.Key("islands").BeginArray();
  for (const Island& island : islands) request.Value(island.nodes);
  request.EndArray();
  return server.Ask(request, {}, what);
}

}  // namespace

Result<std::vector<IslandTask>> CutIslands(TorchServer& server, std::span<const Island> islands) {
  const JsonReader reply =
      TRY(AskAbout(server, "cut_islands", islands, "cutting its graph into islands"));
  std::vector<IslandTask> tasks;
  for (const JsonReader& value : reply["islands"].items()) tasks.push_back(ReadIsland(value));
  TRY(reply.status());
  if (tasks.size() != islands.size()) return Fail("the server cut another number of islands");
  return tasks;
}

Result<IslandOrder> ArrangeIslands(TorchServer& server, std::span<const Island> islands) {
  const JsonReader reply =
      TRY(AskAbout(server, "arrange_islands", islands, "arranging its islands"));
  IslandOrder order;
  for (const JsonReader& value : reply["steps"].items()) order.steps.push_back(ReadStep(value));
  reply.Get("results", order.results);
  TRY(reply.status());
  for (const IslandStep& step : order.steps)
    if (step.island >= static_cast<int>(islands.size()))
      return Fail("the server named an island too many");
  return order;
}

Result<std::map<std::string, double>> OperatorSeconds(TorchServer& server) {
  JsonWriter request = ServerRequest("operator_seconds");
  const JsonReader reply = TRY(server.Ask(request, {}, "timing its operators"));
  std::map<std::string, double> seconds;
  reply.Get("seconds", seconds);
  TRY(reply.status());
  return seconds;
}

}  // namespace pragma
