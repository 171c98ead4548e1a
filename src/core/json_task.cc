#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_parts.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/task.h"

namespace pragma {
namespace {

constexpr int kMaxNesting = 64;  // deepest nesting of lists in scalar values
constexpr std::array<TensorRole, 5> kTensorRoles{TensorRole::kInput, TensorRole::kParameter,
                                                 TensorRole::kBuffer, TensorRole::kConstant,
                                                 TensorRole::kOutput};

std::string_view NonFiniteName(double real) {
  if (std::isnan(real)) return "nan";
  return real > 0 ? "inf" : "-inf";
}

// Writes the JSON value of the same kind. Values that JSON cannot express become objects: {"node":
// name} for a node of the graph, {"float": "inf" | "-inf" | "nan"} for a number.
void WriteScalar(JsonWriter& writer, const ScalarValue& value) {
  switch (value.kind) {
    case ScalarValue::Kind::kNone: writer.Null(); return;
    case ScalarValue::Kind::kBool: writer.Value(value.integer != 0); return;
    case ScalarValue::Kind::kInt: writer.Value(value.integer); return;
    case ScalarValue::Kind::kString: writer.Value(value.text); return;
    case ScalarValue::Kind::kNode:
      writer.BeginObject().Field("node", value.text).EndObject();
      return;
    case ScalarValue::Kind::kFloat:
      if (std::isfinite(value.real)) {
        writer.Value(value.real);
      } else {
        writer.BeginObject().Field("float", NonFiniteName(value.real)).EndObject();
      }
      return;
    case ScalarValue::Kind::kList:
      writer.BeginArray();
      for (const ScalarValue& item : value.items) WriteScalar(writer, item);
      writer.EndArray();
      return;
  }
}

void ReadScalarObject(const JsonReader& reader, ScalarValue& value) {
  if (reader["float"].null()) {
    value.kind = ScalarValue::Kind::kNode;
    reader.Require("node", value.text);
    return;
  }
  std::string name;
  reader.Get("float", name);
  value.kind = ScalarValue::Kind::kFloat;
  value.real = std::numeric_limits<double>::quiet_NaN();
  if (name == "inf") value.real = std::numeric_limits<double>::infinity();
  if (name == "-inf") value.real = -std::numeric_limits<double>::infinity();
}

void ReadScalar(const JsonReader& reader, ScalarValue& value, int depth = 0) {
  bool truth = false;
  switch (reader.type()) {
    case JsonReader::Type::kNull: return;
    case JsonReader::Type::kBool:
      value.kind = ScalarValue::Kind::kBool;
      reader.Get(truth);
      value.integer = truth ? 1 : 0;
      return;
    case JsonReader::Type::kInteger:
      value.kind = ScalarValue::Kind::kInt;
      reader.Get(value.integer);
      return;
    case JsonReader::Type::kReal:
      value.kind = ScalarValue::Kind::kFloat;
      reader.Get(value.real);
      return;
    case JsonReader::Type::kText:
      value.kind = ScalarValue::Kind::kString;
      reader.Get(value.text);
      return;
    case JsonReader::Type::kObject: ReadScalarObject(reader, value); return;
    case JsonReader::Type::kArray:
      value.kind = ScalarValue::Kind::kList;
      if (depth == kMaxNesting) return reader.Complain("lists are nested too deeply");
      for (const JsonReader& item : reader.items())
        ReadScalar(item, value.items.emplace_back(), depth + 1);
      return;
  }
}

void WriteTensors(JsonWriter& writer, std::string_view name,
                  const std::vector<TensorSpec>& tensors) {
  writer.Key(name).BeginArray();
  for (const TensorSpec& tensor : tensors) {
    writer.BeginObject().Field("name", tensor.name).Field("path", tensor.path);
    writer.Field("role", TensorRoleName(tensor.role)).Field("dtype", DTypeName(tensor.dtype));
    writer.Field("shape", tensor.shape);
    if (!tensor.constant.empty()) writer.Field("constant", tensor.constant);
    if (tensor.complex) writer.Field("complex", true);
    writer.EndObject();
  }
  writer.EndArray();
}

void ReadRole(const JsonReader& reader, TensorRole& out) {
  std::string name(TensorRoleName(out));
  reader.Get(name);
  for (const TensorRole role : kTensorRoles) {
    if (TensorRoleName(role) == name) {
      out = role;
      return;
    }
  }
  reader.Complain("\"" + name + "\" is not a tensor role");
}

void ReadDType(const JsonReader& reader, DType& out) {
  std::string name(DTypeName(out));
  reader.Get(name);
  if (const std::optional<DType> dtype = DTypeFromName(name)) {
    out = *dtype;
  } else {
    reader.Complain("\"" + name + "\" is not a known element type");
  }
}

void ReadTensors(const JsonReader& reader, std::vector<TensorSpec>& tensors) {
  for (const JsonReader& item : reader.items()) {
    TensorSpec& tensor = tensors.emplace_back();
    item.Get("name", tensor.name);
    item.Get("path", tensor.path);
    ReadRole(item["role"], tensor.role);
    ReadDType(item["dtype"], tensor.dtype);
    item.Get("shape", tensor.shape);
    item.Get("constant", tensor.constant);
    item.Get("complex", tensor.complex);
    for (const std::int64_t size : tensor.shape) {
      if (size < 0) item["shape"].Complain("a size is negative");
    }
  }
}

void WriteNamed(JsonWriter& writer, std::string_view name, const std::vector<NamedValue>& values) {
  writer.Key(name).BeginArray();
  for (const NamedValue& value : values) {
    writer.BeginObject().Field("name", value.name).Key("value");
    WriteScalar(writer, value.value);
    writer.EndObject();
  }
  writer.EndArray();
}

void ReadNamed(const JsonReader& reader, std::vector<NamedValue>& values) {
  for (const JsonReader& item : reader.items()) {
    NamedValue& value = values.emplace_back();
    item.Get("name", value.name);
    ReadScalar(item["value"], value.value);
  }
}

void WriteNode(JsonWriter& writer, const GraphNode& node) {
  writer.BeginObject().Field("name", node.name).Field("op", node.op).Key("args").BeginArray();
  for (const ScalarValue& arg : node.args) WriteScalar(writer, arg);
  writer.EndArray();
  WriteNamed(writer, "kwargs", node.kwargs);
  WriteTensors(writer, "results", node.results);
  writer.Field("strides", node.strides).EndObject();
}

void ReadNode(const JsonReader& reader, GraphNode& node) {
  reader.Get("name", node.name);
  reader.Get("op", node.op);
  for (const JsonReader& arg : reader["args"].items()) ReadScalar(arg, node.args.emplace_back());
  ReadNamed(reader["kwargs"], node.kwargs);
  ReadTensors(reader["results"], node.results);
  reader.Get("strides", node.strides);
}

}  // namespace

void Write(JsonWriter& writer, const Task& task) {
  BeginSchema(writer);
  writer.Field("name", task.name).Field("sha256", task.sha256).Field("source", task.source);
  writer.Field("category", task.category).Field("lint", task.lint);
  WriteTensors(writer, "arguments", task.arguments);
  WriteTensors(writer, "outputs", task.outputs);
  writer.Field("output_kind", task.output_kind).Field("output_tree", task.output_tree);
  writer.Field("updates", task.updates);
  WriteNamed(writer, "init_args", task.init_args);
  WriteNamed(writer, "call_args", task.call_args);
  writer.Field("flops", task.flops).Field("compulsory_bytes", task.compulsory_bytes);
  writer.Field("peak_bytes", task.peak_bytes);
  writer.Key("graph").BeginArray();
  for (const GraphNode& node : task.graph) WriteNode(writer, node);
  writer.EndArray().Field("export_error", task.export_error).Field("random", task.random);
  writer.Field("stateful", task.stateful).Field("reduction_length", task.reduction_length);
  writer.Field("mode", task.mode()).Field("mode_matters", task.mode_matters);
  writer.Field("notes", task.notes).EndObject();
}

void Read(const JsonReader& reader, Task& task) {
  CheckSchema(reader);
  reader.Require("name", task.name);
  reader.Get("sha256", task.sha256);
  reader.Get("source", task.source);
  reader.Get("category", task.category);
  reader.Get("lint", task.lint);
  ReadTensors(reader["arguments"], task.arguments);
  ReadTensors(reader["outputs"], task.outputs);
  reader.Get("output_kind", task.output_kind);
  reader.Get("output_tree", task.output_tree);
  reader.Get("updates", task.updates);
  ReadNamed(reader["init_args"], task.init_args);
  ReadNamed(reader["call_args"], task.call_args);
  reader.Get("flops", task.flops);
  reader.Get("compulsory_bytes", task.compulsory_bytes);
  reader.Get("peak_bytes", task.peak_bytes);
  for (const JsonReader& node : reader["graph"].items()) ReadNode(node, task.graph.emplace_back());
  reader.Get("export_error", task.export_error);
  reader.Get("random", task.random);
  reader.Get("stateful", task.stateful);
  reader.Get("reduction_length", task.reduction_length);
  std::string mode;
  reader.Get("mode", mode);
  task.training = mode != "eval";
  reader.Get("mode_matters", task.mode_matters);
  reader.Get("notes", task.notes);
}

}  // namespace pragma
