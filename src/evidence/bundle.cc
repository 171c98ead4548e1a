#include "evidence/bundle.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/duration.h"
#include "base/hash.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "core/json_parts.h"
#include "core/json_writer.h"
#include "core/judging.h"

namespace pragma {
namespace {

void WriteTask(JsonWriter& writer, const Bundle& bundle) {
  writer.Key("task").BeginObject().Field("name", bundle.task_name);
  writer.Field("sha256", Sha256Hex(bundle.task_source)).Field("source", bundle.task_source);
  if (!bundle.task_files.empty()) {
    writer.Key("files").BeginObject();
    for (const auto& [path, text] : bundle.task_files) writer.Field(path, text);
    writer.EndObject();
  }
  writer.EndObject().Field("kernel_header_sha256", bundle.kernel_header_sha256);
}

// Durations are written in seconds, under a name that says so.
void WriteField(JsonWriter& writer, const JudgingField& field, const JudgingOptions& options) {
  const std::string text = field.text(options);
  switch (field.kind) {
    case JudgingField::Kind::kCount: writer.Field(field.name, std::stoi(text)); break;
    case JudgingField::Kind::kDuration:
      writer.Field(std::string(field.name) + "_s", ParseDuration(text).value_or(0));
      break;
    case JudgingField::Kind::kFlag: writer.Field(field.name, text == "true"); break;
    default: writer.Field(field.name, text); break;
  }
}

void WriteOptions(JsonWriter& writer, const BundleOptions& options) {
  writer.Key("options").BeginObject();
  for (const JudgingField& field : JudgingFields()) {
    if (field.in_bundle) WriteField(writer, field, options.judging);
  }
  writer.Field("updates", options.judging.updates);
  writer.Field("check_sets", options.check_sets);
  writer.Field("timing_budget_s", options.timing_budget_s).EndObject();
}

void WriteSamples(JsonWriter& writer, const Evaluation& evaluation) {
  writer.Key("samples").BeginArray();
  for (const RawSamples& side : evaluation.samples) {
    writer.BeginObject().Field("session", side.session).Field("side", side.side);
    writer.Field("doorbell_us", side.doorbell_us).Field("seconds", side.seconds).EndObject();
  }
  writer.EndArray();
}

void WriteAncestor(JsonWriter& writer, const Ancestor& ancestor) {
  writer.BeginObject().Field("node", ancestor.node).Field("parent", ancestor.parent);
  writer.Field("author", ancestor.author).Field("candidate", ancestor.candidate);
  writer.Field("status", StatusName(ancestor.status)).Key("speedup_eager");
  if (const auto& ratio = ancestor.speedup_eager) {
    writer.BeginObject().Field("median", ratio->median).Key("ci95").BeginArray();
    writer.Value(ratio->low).Value(ratio->high).EndArray().EndObject();
  } else {
    writer.Null();
  }
  writer.EndObject();
}

void WriteCall(JsonWriter& writer, const LineageCall& call) {
  writer.BeginObject().Field("role", call.role).Field("ordinal", call.ordinal);
  writer.Field("model", call.model).Key("messages").Raw(call.messages);
  writer.Key("completion").Raw(call.completion).EndObject();
}

void WriteLineage(JsonWriter& writer, const Lineage& lineage) {
  writer.BeginObject().Field("run", lineage.run).Field("strategy", lineage.strategy);
  writer.Field("node", lineage.node).Field("role", lineage.role).Field("author", lineage.author);
  writer.Key("advice");
  if (lineage.advice) {
    Write(writer, *lineage.advice);
  } else {
    writer.Null();
  }
  writer.Key("ancestors").BeginArray();
  for (const Ancestor& ancestor : lineage.ancestors) WriteAncestor(writer, ancestor);
  writer.EndArray().Key("calls").BeginArray();
  for (const LineageCall& call : lineage.calls) WriteCall(writer, call);
  writer.EndArray().EndObject();
}

std::string ObjectText(const Bundle& bundle) {
  JsonWriter writer;
  BeginSchema(writer);
  writer.Field("kind", "pragma-bundle").Field("pragma", bundle.pragma);
  WriteTask(writer, bundle);
  writer.Key("candidate");
  Write(writer, bundle.candidate);
  writer.Key("against");
  if (bundle.against) {
    Write(writer, *bundle.against);
  } else {
    writer.Null();
  }
  WriteOptions(writer, bundle.options);
  writer.Field("system", bundle.system).Key("machine").Raw(bundle.machine).Key("evaluation");
  Write(writer, bundle.evaluation);
  WriteSamples(writer, bundle.evaluation);
  writer.Key("lineage");
  if (bundle.lineage) {
    WriteLineage(writer, *bundle.lineage);
  } else {
    writer.Null();
  }
  writer.EndObject();
  return writer.Take();
}

}  // namespace

bool IsTaskPath(std::string_view path) {
  constexpr std::size_t kLongest = 500;
  if (path.size() > kLongest || path.find('\0') != std::string_view::npos) return false;
  return std::ranges::none_of(Split(path, '/'), [](const std::string& part) {
    return part.empty() || part == "." || part == "..";
  });
}

SealedBundle SealObject(std::string_view object) {
  SealedBundle sealed{.text = std::string(object), .sha256 = Sha256Hex(object)};
  sealed.text.pop_back();
  sealed.text += ",\"sha256\":\"" + sealed.sha256 + "\"}\n";
  return sealed;
}

SealedBundle Seal(const Bundle& bundle) { return SealObject(ObjectText(bundle)); }

}  // namespace pragma
