#include "export/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/task.h"
#include "export/mixed.h"
#include "export/writer.h"
#include "task/island_cut.h"
#include "task/whole_model_server.h"

namespace pragma {
namespace {

// A value of the task's graph, with the argument of the task that it is.
struct NamedArgument {
  std::string name;
  const TensorSpec* argument = nullptr;
};

// Returns the task's arguments under the names that the steps give them.
std::vector<NamedArgument> NamedArguments(const PartKernels& part) {
  std::vector<NamedArgument> named;
  if (part.whole) {
    for (const TensorSpec& argument : part.task.arguments)
      named.push_back({argument.name, &argument});
    return named;
  }
  for (const GraphNode& node : part.task.graph) {
    if (node.op != "placeholder" || node.results.empty()) continue;
    const auto argument =
        std::ranges::find(part.task.arguments, node.results.front().name, &TensorSpec::name);
    if (argument != part.task.arguments.end()) named.push_back({node.name, &*argument});
  }
  return named;
}

std::string KernelName(const PackedPart& packed, std::size_t number) {
  const Candidate& candidate = packed.kernels->kernels[number].candidate;
  return fmt::format("{}_k{}_{}", packed.name, number + 1, candidate.id().substr(0, 10));
}

Result<void> WriteKernels(JsonWriter& writer, const PackedPart& packed, const Builder& builder) {
  std::size_t number = 0;
  for (const IslandKernel& kernel : packed.kernels->kernels) {
    const BuiltKernel built = TRY(BuildForExport(kernel.candidate, kernel.kernel_header, builder));
    writer.BeginObject().Field("name", KernelName(packed, number++));
    WriteKernel(writer, kernel.candidate, kernel.kernel_header, built);
    WriteTensors(writer, "arguments", kernel.task.arguments);
    WriteTensors(writer, "outputs", kernel.task.outputs);
    writer.EndObject();
  }
  return {};
}

// Each argument of the task, with where a call of the module finds it.
Result<void> WriteUnitArguments(JsonWriter& writer, const PackedPart& packed,
                                const JsonReader& form) {
  writer.Key("arguments").BeginArray();
  for (const NamedArgument& named : NamedArguments(*packed.kernels)) {
    const JsonReader origin = form["arguments"][named.argument->path];
    writer.BeginObject().Field("name", named.name);
    writer.Field("dtype", DTypeName(named.argument->dtype)).Field("shape", named.argument->shape);
    for (const auto& [key, value] : origin.members()) writer.Key(key).Raw(value.Dump());
    writer.EndObject();
    if (origin.members().empty())
      return Fail(packed.part->kind + " has an argument " + named.argument->path +
                  " that the module's call lacks");
  }
  writer.EndArray();
  return {};
}

void WriteSteps(JsonWriter& writer, const PackedPart& packed) {
  writer.Key("steps").BeginArray();
  for (const IslandStep& step : packed.kernels->order.steps) {
    writer.BeginObject();
    if (step.island < 0) {
      writer.Field("line", step.line).EndObject();
      continue;
    }
    const auto number = static_cast<std::size_t>(step.island);
    const IslandKernel& kernel = packed.kernels->kernels[number];
    std::vector<std::string> arguments;
    for (const TensorSpec& argument : kernel.task.arguments)
      arguments.push_back(kernel.island.arguments.at(argument.path));
    writer.Field("kernel", KernelName(packed, number)).Field("arguments", arguments);
    writer.Field("results", kernel.island.outputs).EndObject();
  }
  writer.EndArray();
}

Result<void> WriteUnit(JsonWriter& writer, const PackedPart& packed) {
  const JsonReader form = TRY(JsonReader::Parse(packed.part->form, "a part of the model"));
  writer.BeginObject().Field("name", packed.name).Field("class", packed.part->kind);
  writer.Field("paths", packed.part->paths);
  for (const char* key : {"in_spec", "leaves", "out_spec", "out_leaves"})
    writer.Key(key).Raw(form[key].Dump());
  TRY(WriteUnitArguments(writer, packed, form));
  WriteSteps(writer, packed);
  std::vector<std::string> results;
  for (const std::size_t output : packed.part->outputs)
    results.push_back(packed.kernels->order.results.at(output));
  writer.Field("results", results).EndObject();
  return {};
}

// The device on which the package's tensors must be, as pragma_kernels checks it.
void WriteDevice(JsonWriter& writer, const std::optional<Device>& device) {
  writer.Key("device").BeginObject().Field("type", device ? "cuda" : "cpu");
  if (device) writer.Field("name", device->name).Field("capability", device->capability);
  writer.EndObject();
}

}  // namespace

PartKernels WholePart(const Task& task, const std::string& kernel_header,
                      const Candidate& candidate) {
  PartKernels part{.task = task, .kernels = {}, .order = {}, .whole = true};
  IslandTask island;
  for (const TensorSpec& argument : task.arguments) island.arguments[argument.path] = argument.name;
  for (const TensorSpec& output : task.outputs) island.outputs.push_back(output.name);
  part.order.steps.push_back({.island = 0, .line = {}});
  part.order.results = island.outputs;
  part.kernels.push_back({.island = std::move(island),
                          .task = task,
                          .kernel_header = kernel_header,
                          .candidate = candidate});
  return part;
}

Result<std::string> PackageText(const PackageRequest& request, const Builder& builder) {
  JsonWriter writer;
  writer.BeginObject().Field("model", request.model).Field("threads", request.threads);
  WriteDevice(writer, request.device);
  writer.Key("kernels").BeginArray();
  for (const PackedPart& packed : request.parts) TRY(WriteKernels(writer, packed, builder));
  writer.EndArray().Key("units").BeginArray();
  for (const PackedPart& packed : request.parts) TRY(WriteUnit(writer, packed));
  writer.EndArray().EndObject();
  return writer.Take();
}

}  // namespace pragma
