#include "export/mixed.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "build/builder.h"
#include "core/json_writer.h"
#include "core/task.h"
#include "export/writer.h"
#include "task/island_cut.h"

namespace pragma {
namespace {

// Writes the whole's arguments, each with the name of its value in the graph.
void WriteArguments(JsonWriter& writer, const Task& task) {
  writer.Key("arguments").BeginArray();
  for (const GraphNode& node : task.graph) {
    if (node.op != "placeholder" || node.results.empty()) continue;
    writer.BeginObject().Field("value", node.name);
    const TensorSpec& read = node.results.front();
    const auto argument = std::ranges::find(task.arguments, read.name, &TensorSpec::name);
    WriteTensor(writer, argument == task.arguments.end() ? read : *argument);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteIsland(JsonWriter& writer, const IslandKernel& kernel, const BuiltKernel& built) {
  writer.BeginObject();
  WriteKernel(writer, kernel.candidate, kernel.kernel_header, built);
  writer.Key("arguments").BeginArray();
  for (const TensorSpec& argument : kernel.task.arguments) {
    writer.BeginObject().Field("value", kernel.island.arguments.at(argument.path));
    WriteTensor(writer, argument);
    writer.EndObject();
  }
  writer.EndArray().Key("outputs").BeginArray();
  for (std::size_t i = 0; i < kernel.task.outputs.size(); ++i) {
    writer.BeginObject().Field("value", kernel.island.outputs.at(i));
    WriteTensor(writer, kernel.task.outputs[i]);
    writer.EndObject();
  }
  writer.EndArray().EndObject();
}

// An island's task was described by the server, as its cut was.
Result<void> CheckBorder(const IslandTask& island, const Task& task) {
  for (const TensorSpec& argument : task.arguments)
    if (!island.arguments.contains(argument.path))
      return Fail(task.name + " has an argument " + argument.path + " that the cut lacks");
  if (island.outputs.size() == task.outputs.size()) return {};
  return Fail(task.name + " has another number of outputs than its cut");
}

}  // namespace

Result<WrittenSolution> WriteMixed(const MixedRequest& request, const Builder& builder) {
  const Task& task = *request.task;
  JsonWriter writer;
  writer.BeginObject().Field("name", task.name).Field("source", task.source);
  WriteArguments(writer, task);
  writer.Key("islands").BeginArray();
  for (const IslandKernel* kernel : request.kernels) {
    TRY(CheckBorder(kernel->island, kernel->task));
    WriteIsland(writer, *kernel,
                TRY(BuildForExport(kernel->candidate, kernel->kernel_header, builder)));
  }
  writer.EndArray().Key("steps").BeginArray();
  for (const IslandStep& step : request.order->steps)
    writer.BeginObject().Field("island", step.island).Field("line", step.line).EndObject();
  writer.EndArray().Field("results", request.order->results);
  WriteTensors(writer, "outputs", task.outputs);
  WriteMode(writer, task);
  WriteOutputForm(writer, task);
  writer.EndObject();
  return RunWriter(request.python, request.package_root / "pragma_export" / "mixed.py",
                   writer.Take());
}

}  // namespace pragma
