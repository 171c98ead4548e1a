#include "core/json_figures.h"

#include <optional>
#include <string>
#include <string_view>

#include "core/evaluation.h"
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

}  // namespace

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

namespace {

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

}  // namespace

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

}  // namespace pragma
