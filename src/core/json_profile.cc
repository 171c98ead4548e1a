// JSON of a Profile.
#include "core/json_parts.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/profile.h"

namespace pragma {
namespace {

void WriteOne(JsonWriter& writer, const Metric& metric) {
  writer.BeginObject().Field("tag", metric.tag).Field("value", metric.value);
  writer.Field("unit", metric.unit).Field("source", metric.source).EndObject();
}

void WriteOne(JsonWriter& writer, const Diagnosis& diagnosis) {
  writer.BeginObject().Field("class", diagnosis.bottleneck).Field("score", diagnosis.score);
  writer.Field("evidence", diagnosis.evidence).Field("action", diagnosis.action);
  writer.Field("line", diagnosis.line);
  writer.Field("predicted_speedup", diagnosis.predicted_speedup).EndObject();
}

void WriteOne(JsonWriter& writer, const HotSpot& spot) {
  writer.BeginObject().Field("file", spot.file).Field("line", spot.line);
  writer.Field("percent", spot.percent).Field("text", spot.text);
  writer.Field("remark", spot.remark).EndObject();
}

void WriteOne(JsonWriter& writer, const ProviderNote& note) {
  writer.BeginObject().Field("name", note.name).Field("verdict", note.verdict);
  writer.Field("detail", note.detail).Field("seconds", note.seconds).EndObject();
}

void ReadOne(const JsonReader& item, Metric& metric) {
  item.Get("tag", metric.tag);
  item.Get("value", metric.value);
  item.Get("unit", metric.unit);
  item.Get("source", metric.source);
}

void ReadOne(const JsonReader& item, Diagnosis& diagnosis) {
  item.Get("class", diagnosis.bottleneck);
  item.Get("score", diagnosis.score);
  item.Get("evidence", diagnosis.evidence);
  item.Get("action", diagnosis.action);
  item.Get("line", diagnosis.line);
  item.Get("predicted_speedup", diagnosis.predicted_speedup);
}

void ReadOne(const JsonReader& item, HotSpot& spot) {
  item.Get("file", spot.file);
  item.Get("line", spot.line);
  item.Get("percent", spot.percent);
  item.Get("text", spot.text);
  item.Get("remark", spot.remark);
}

void ReadOne(const JsonReader& item, ProviderNote& note) {
  item.Get("name", note.name);
  item.Get("verdict", note.verdict);
  item.Get("detail", note.detail);
  item.Get("seconds", note.seconds);
}

template <class T>
void WriteAll(JsonWriter& writer, std::string_view name, const std::vector<T>& values) {
  writer.Key(name).BeginArray();
  for (const T& value : values) WriteOne(writer, value);
  writer.EndArray();
}

template <class T>
void ReadAll(const JsonReader& array, std::vector<T>& values) {
  for (const JsonReader& item : array.items()) ReadOne(item, values.emplace_back());
}

}  // namespace

void Write(JsonWriter& writer, const Profile& profile) {
  BeginSchema(writer);
  WriteAll(writer, "metrics", profile.metrics);
  WriteAll(writer, "diagnosis", profile.diagnosis);
  WriteAll(writer, "hot", profile.hot);
  WriteAll(writer, "providers", profile.providers);
  writer.Field("judgement", profile.judgement);
  writer.EndObject();
}

void Read(const JsonReader& reader, Profile& profile) {
  CheckSchema(reader);
  ReadAll(reader["metrics"], profile.metrics);
  ReadAll(reader["diagnosis"], profile.diagnosis);
  ReadAll(reader["hot"], profile.hot);
  ReadAll(reader["providers"], profile.providers);
  reader.Get("judgement", profile.judgement);
}

}  // namespace pragma
