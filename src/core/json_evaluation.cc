#include <optional>
#include <string>
#include <string_view>

#include "core/evaluation.h"
#include "core/json_parts.h"
#include "core/json_reader.h"
#include "core/json_writer.h"

namespace pragma {
namespace {

// Writes a 95 % interval as [low, high].
void WriteInterval(JsonWriter& writer, std::string_view name, const Interval& interval) {
  writer.Key(name).BeginArray().Value(interval.low).Value(interval.high).EndArray();
}

void ReadInterval(const JsonReader& reader, Interval& interval) {
  const auto ends = reader.items();
  if (ends.empty()) return;
  if (ends.size() != 2) {
    reader.Complain("should be [low, high]");
    return;
  }
  ends[0].Get(interval.low);
  ends[1].Get(interval.high);
}

void WriteTiming(JsonWriter& writer, std::string_view name, const std::optional<Timing>& timing) {
  writer.Key(name);
  if (!timing) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("median_ms", timing->ms.median);
  WriteInterval(writer, "ci95_ms", timing->ms);
  writer.Field("samples", timing->samples).Field("processes", timing->processes);
  writer.Field("method", timing->method).Field("threads", timing->threads);
  writer.Field("doorbell_us", timing->doorbell_us).EndObject();
}

void ReadTiming(const JsonReader& reader, std::optional<Timing>& out) {
  if (reader.null()) return;
  Timing& timing = out.emplace();
  reader.Get("median_ms", timing.ms.median);
  ReadInterval(reader["ci95_ms"], timing.ms);
  reader.Get("samples", timing.samples);
  reader.Get("processes", timing.processes);
  reader.Get("method", timing.method);
  reader.Get("threads", timing.threads);
  reader.Get("doorbell_us", timing.doorbell_us);
}

void WriteRatio(JsonWriter& writer, std::string_view name, const std::optional<Interval>& ratio) {
  writer.Key(name);
  if (!ratio) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("median", ratio->median);
  WriteInterval(writer, "ci95", *ratio);
  writer.EndObject();
}

void ReadRatio(const JsonReader& reader, std::optional<Interval>& out) {
  if (reader.null()) return;
  Interval& ratio = out.emplace();
  reader.Get("median", ratio.median);
  ReadInterval(reader["ci95"], ratio);
}

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

void WriteSession(JsonWriter& writer, std::string_view name, const CallSession& session) {
  writer.Key(name).BeginObject();
  WriteRatio(writer, "speedup", session.speedup);
  WriteTiming(writer, "timing", session.timing);
  WriteTiming(writer, "baseline", session.baseline);
  writer.Field("page_faults", session.page_faults);
  writer.Field("baseline_page_faults", session.baseline_page_faults).EndObject();
}

void ReadSession(const JsonReader& reader, CallSession& session) {
  std::optional<Interval> speedup;
  std::optional<Timing> timing;
  std::optional<Timing> baseline;
  ReadRatio(reader["speedup"], speedup);
  ReadTiming(reader["timing"], timing);
  ReadTiming(reader["baseline"], baseline);
  session.speedup = speedup.value_or(Interval{});
  session.timing = timing.value_or(Timing{});
  session.baseline = baseline.value_or(Timing{});
  reader.Get("page_faults", session.page_faults);
  reader.Get("baseline_page_faults", session.baseline_page_faults);
}

void WriteCall(JsonWriter& writer, const std::optional<CallFigures>& call) {
  writer.Key("call");
  if (!call) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("over", call->over).Field("trust", call->trust);
  WriteSession(writer, "kept", call->kept);
  if (call->defaults) WriteSession(writer, "defaults", *call->defaults);
  writer.EndObject();
}

void ReadCall(const JsonReader& reader, std::optional<CallFigures>& out) {
  if (reader.null()) return;
  CallFigures& call = out.emplace();
  reader.Get("over", call.over);
  reader.Get("trust", call.trust);
  ReadSession(reader["kept"], call.kept);
  if (!reader["defaults"].null()) ReadSession(reader["defaults"], call.defaults.emplace());
}

void WriteLoad(JsonWriter& writer, const std::optional<Load>& load) {
  writer.Key("load");
  if (!load) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("seconds", load->seconds).Field("others", load->others);
  writer.Field("steal", load->steal).Field("pressure", load->pressure);
  writer.Field("mhz_low", load->mhz_low).Field("mhz_high", load->mhz_high);
  writer.Field("bursts", load->bursts).Field("disturbed", load->disturbed);
  writer.Field("rounds", load->rounds).Field("rounds_left_out", load->rounds_left_out);
  writer.Field("waited_seconds", load->waited_seconds).EndObject();
}

void ReadLoad(const JsonReader& reader, std::optional<Load>& out) {
  if (reader.null()) return;
  Load& load = out.emplace();
  reader.Get("seconds", load.seconds);
  reader.Get("others", load.others);
  reader.Get("steal", load.steal);
  reader.Get("pressure", load.pressure);
  reader.Get("mhz_low", load.mhz_low);
  reader.Get("mhz_high", load.mhz_high);
  reader.Get("bursts", load.bursts);
  reader.Get("disturbed", load.disturbed);
  reader.Get("rounds", load.rounds);
  reader.Get("rounds_left_out", load.rounds_left_out);
  reader.Get("waited_seconds", load.waited_seconds);
}

void WriteRoofline(JsonWriter& writer, const Evaluation& evaluation) {
  writer.Key("roofline");
  if (!evaluation.roofline) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("ms", evaluation.roofline->ms);
  writer.Field("bound", evaluation.roofline->compute_bound ? "compute" : "memory");
  if (evaluation.timing && evaluation.timing->ms.median > 0)
    writer.Field("reached", evaluation.roofline->ms / evaluation.timing->ms.median);
  writer.EndObject();
}

void ReadRoofline(const JsonReader& reader, std::optional<Roofline>& out) {
  if (reader.null()) return;
  Roofline& roofline = out.emplace();
  std::string bound;
  reader.Get("ms", roofline.ms);
  reader.Get("bound", bound);
  roofline.compute_bound = bound == "compute";
}

void WriteFigures(JsonWriter& writer, const Evaluation& evaluation) {
  WriteTiming(writer, "timing", evaluation.timing);
  writer.Key("baseline").BeginObject();
  WriteTiming(writer, "eager", evaluation.eager);
  WriteTiming(writer, "compile", evaluation.compile);
  writer.EndObject().Key("speedup").BeginObject();
  WriteRatio(writer, "eager", evaluation.speedup_eager);
  WriteRatio(writer, "compile", evaluation.speedup_compile);
  WriteRatio(writer, "call",
             evaluation.call ? std::optional(evaluation.call->kept.speedup) : std::nullopt);
  WriteRatio(writer, "best", evaluation.speedup_best);
  writer.EndObject();
  WriteCall(writer, evaluation.call);
  writer.Field("lower_bound_ms", evaluation.lower_bound_ms);
  WriteRoofline(writer, evaluation);
  writer.Field("prepacked", evaluation.prepacked).Field("prepare_ms", evaluation.prepare_ms);
  writer.Key("noisy");
  if (evaluation.noisy.empty()) {
    writer.Null();
  } else {
    writer.Value(evaluation.noisy);
  }
  WriteLoad(writer, evaluation.load);
}

void ReadFigures(const JsonReader& reader, Evaluation& evaluation) {
  ReadTiming(reader["timing"], evaluation.timing);
  ReadTiming(reader["baseline"]["eager"], evaluation.eager);
  ReadTiming(reader["baseline"]["compile"], evaluation.compile);
  ReadRatio(reader["speedup"]["eager"], evaluation.speedup_eager);
  ReadRatio(reader["speedup"]["compile"], evaluation.speedup_compile);
  ReadCall(reader["call"], evaluation.call);
  ReadRatio(reader["speedup"]["best"], evaluation.speedup_best);
  reader.Get("lower_bound_ms", evaluation.lower_bound_ms);
  ReadRoofline(reader["roofline"], evaluation.roofline);
  reader.Get("prepacked", evaluation.prepacked);
  reader.Get("prepare_ms", evaluation.prepare_ms);
  if (!reader["noisy"].null()) reader.Get("noisy", evaluation.noisy);
  ReadLoad(reader["load"], evaluation.load);
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
