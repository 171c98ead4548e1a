#include <optional>
#include <string>
#include <string_view>

#include "core/evaluation.h"
#include "core/json_figures.h"
#include "core/json_parts.h"
#include "core/json_reader.h"
#include "core/json_writer.h"

namespace pragma {
namespace {

void WriteMessages(JsonWriter& writer, const Evaluation& evaluation) {
  writer.Key("checks").BeginArray();
  for (const Check& check : evaluation.checks) {
    writer.BeginObject().Field("name", check.name).Field("verdict", EnumName(check.verdict));
    writer.Field("detail", check.detail).EndObject();
  }
  writer.EndArray().Key("diagnostics").BeginArray();
  for (const Diagnostic& message : evaluation.diagnostics) {
    writer.BeginObject().Field("severity", message.severity).Field("file", message.file);
    writer.Field("line", message.line).Field("column", message.column);
    writer.Field("message", message.message).Field("source_line", message.source_line).EndObject();
  }
  writer.EndArray().Field("log", evaluation.log);
}

void ReadMessages(const JsonReader& reader, Evaluation& evaluation) {
  for (const JsonReader& item : reader["checks"].items()) {
    Check& check = evaluation.checks.emplace_back();
    item.Get("name", check.name);
    ReadEnum(item, "verdict", check.verdict);
    item.Get("detail", check.detail);
  }
  for (const JsonReader& item : reader["diagnostics"].items()) {
    Diagnostic& message = evaluation.diagnostics.emplace_back();
    item.Get("severity", message.severity);
    item.Get("file", message.file);
    item.Get("line", message.line);
    item.Get("column", message.column);
    item.Get("message", message.message);
    item.Get("source_line", message.source_line);
  }
  reader.Get("log", evaluation.log);
}

void WriteError(JsonWriter& writer, const std::optional<ErrorFigures>& error) {
  writer.Key("error");
  if (!error) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("max_abs", error->max_abs).Field("max_rel", error->max_rel);
  writer.Field("rel_l2", error->rel_l2).Field("honest_rel_l2", error->honest_rel_l2);
  writer.Field("at", error->at).Field("output", error->output).EndObject();
}

void ReadError(const JsonReader& reader, std::optional<ErrorFigures>& out) {
  if (reader.null()) return;
  ErrorFigures& error = out.emplace();
  reader.Get("max_abs", error.max_abs);
  reader.Get("max_rel", error.max_rel);
  reader.Get("rel_l2", error.rel_l2);
  reader.Get("honest_rel_l2", error.honest_rel_l2);
  reader.Get("at", error.at);
  reader.Get("output", error.output);
}

void WriteEnvironment(JsonWriter& writer, const Environment& environment) {
  writer.Key("environment").BeginObject();
  writer.Field("cpu", environment.cpu).Field("compiler", environment.compiler);
  writer.Field("torch", environment.torch).Field("allocator", environment.allocator);
  writer.Field("cache", environment.cache).Field("threads", environment.threads);
  writer.Field("protections", environment.protections).Field("trust", environment.trust);
  if (!environment.compile_mode.empty()) writer.Field("compile_mode", environment.compile_mode);
  if (!environment.mode.empty()) writer.Field("mode", environment.mode);
  if (!environment.device.empty()) {
    writer.Field("device", environment.device).Field("precision", environment.precision);
  }
  writer.EndObject();
}

void ReadEnvironment(const JsonReader& reader, Environment& environment) {
  reader.Get("cpu", environment.cpu);
  reader.Get("compiler", environment.compiler);
  reader.Get("torch", environment.torch);
  reader.Get("allocator", environment.allocator);
  reader.Get("cache", environment.cache);
  reader.Get("compile_mode", environment.compile_mode);
  reader.Get("threads", environment.threads);
  reader.Get("protections", environment.protections);
  reader.Get("trust", environment.trust);
  reader.Get("mode", environment.mode);
  reader.Get("device", environment.device);
  reader.Get("precision", environment.precision);
}

void ReadStatus(const JsonReader& reader, Status& out) {
  std::string name;
  reader.Require("status", name);
  if (const std::optional<Status> status = StatusFromName(name)) {
    out = *status;
  } else {
    reader.Complain("\"" + name + "\" is not a known status");
  }
}

void WriteShapes(JsonWriter& writer, const std::vector<ShapeResult>& shapes) {
  writer.Key("shapes").BeginArray();
  for (const ShapeResult& shape : shapes) {
    writer.BeginObject().Field("label", shape.label).Field("held_out", shape.held_out);
    writer.Field("status", StatusName(shape.status));
    WriteTiming(writer, "timing", shape.timing);
    writer.Key("speedup").BeginObject();
    WriteRatio(writer, "eager", shape.speedup_eager);
    WriteRatio(writer, "compile", shape.speedup_compile);
    WriteRatio(writer, "best", shape.speedup_best);
    writer.EndObject().EndObject();
  }
  writer.EndArray();
}

void ReadShapes(const JsonReader& reader, std::vector<ShapeResult>& shapes) {
  for (const JsonReader& item : reader.items()) {
    ShapeResult& shape = shapes.emplace_back();
    item.Get("label", shape.label);
    item.Get("held_out", shape.held_out);
    ReadStatus(item, shape.status);
    ReadTiming(item["timing"], shape.timing);
    ReadRatio(item["speedup"]["eager"], shape.speedup_eager);
    ReadRatio(item["speedup"]["compile"], shape.speedup_compile);
    ReadRatio(item["speedup"]["best"], shape.speedup_best);
  }
}

void WriteVariant(JsonWriter& writer, const TunedVariant& variant) {
  writer.BeginObject().Key("tunables").BeginObject();
  for (const auto& [name, value] : variant.tunables) writer.Field(name, value);
  writer.EndObject().Field("flags", variant.flags).Field("status", StatusName(variant.status));
  writer.Field("reason", variant.reason);
  WriteRatio(writer, "ratio", variant.ratio);
  writer.Field("processes", variant.processes).EndObject();
}

void ReadTuning(const JsonReader& reader, std::optional<Tuning>& out) {
  if (reader.null()) return;
  Tuning& tuning = out.emplace();
  Read(reader, tuning);
}

}  // namespace

void Write(JsonWriter& writer, const Tuning& tuning) {
  writer.BeginObject().Key("variants").BeginArray();
  for (const TunedVariant& variant : tuning.variants) WriteVariant(writer, variant);
  writer.EndArray().Field("chosen", tuning.chosen).Field("combinations", tuning.combinations);
  writer.Field("seconds", tuning.seconds).Field("limit_seconds", tuning.limit_seconds);
  writer.Field("complete", tuning.complete).Field("recalled", tuning.recalled).EndObject();
}

void Read(const JsonReader& reader, Tuning& tuning) {
  for (const JsonReader& item : reader["variants"].items()) {
    TunedVariant& variant = tuning.variants.emplace_back();
    item.Get("tunables", variant.tunables);
    item.Get("flags", variant.flags);
    ReadStatus(item, variant.status);
    item.Get("reason", variant.reason);
    ReadRatio(item["ratio"], variant.ratio);
    item.Get("processes", variant.processes);
  }
  reader.Get("chosen", tuning.chosen);
  reader.Get("combinations", tuning.combinations);
  reader.Get("seconds", tuning.seconds);
  reader.Get("limit_seconds", tuning.limit_seconds);
  reader.Get("complete", tuning.complete);
  reader.Get("recalled", tuning.recalled);
  if (tuning.chosen >= tuning.variants.size()) reader.Complain("\"chosen\" names no variant");
}

// Every name is always present. null means that there is no such figure.
void Write(JsonWriter& writer, const Evaluation& evaluation) {
  BeginSchema(writer);
  writer.Field("status", StatusName(evaluation.status)).Field("reason", evaluation.reason);
  WriteMessages(writer, evaluation);
  WriteError(writer, evaluation.error);
  writer.Key("official");
  if (evaluation.official_correct) {
    writer.BeginObject().Field("correct", *evaluation.official_correct).EndObject();
  } else {
    writer.Null();
  }
  writer.Field("partly_checked", evaluation.partly_checked).Field("nan", evaluation.nan);
  WriteFigures(writer, evaluation);
  WriteShapes(writer, evaluation.shapes);
  writer.Key("tuning");
  if (evaluation.tuning) {
    Write(writer, *evaluation.tuning);
  } else {
    writer.Null();
  }
  WriteEnvironment(writer, evaluation.environment);
  writer.Field("object_sha256", evaluation.object_sha256).Field("seed", evaluation.seed);
  writer.Key("phases_ms").BeginObject();
  for (const auto& [phase, ms] : evaluation.phases_ms) writer.Field(phase, ms);
  writer.EndObject().EndObject();
}

void Read(const JsonReader& reader, Evaluation& evaluation) {
  CheckSchema(reader);
  ReadStatus(reader, evaluation.status);
  reader.Get("reason", evaluation.reason);
  ReadMessages(reader, evaluation);
  ReadError(reader["error"], evaluation.error);
  reader["official"].Get("correct", evaluation.official_correct);
  reader.Get("partly_checked", evaluation.partly_checked);
  reader.Get("nan", evaluation.nan);
  ReadFigures(reader, evaluation);
  ReadShapes(reader["shapes"], evaluation.shapes);
  ReadTuning(reader["tuning"], evaluation.tuning);
  ReadEnvironment(reader["environment"], evaluation.environment);
  reader.Get("object_sha256", evaluation.object_sha256);
  reader.Get("seed", evaluation.seed);
  reader.Get("phases_ms", evaluation.phases_ms);
}

}  // namespace pragma
