#include "core/json.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/json_parts.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/trial.h"

namespace pragma {
namespace {

constexpr std::array<std::string_view, 3> kBaseNames{"current", "best", "reference"};

// Reads the value of an enum whose names are `name_of(0)`, `name_of(1)`, ...
template <class Enum, class NameOf>
void ReadEnum(const JsonReader& reader, std::size_t count, NameOf name_of, Enum& out) {
  if (reader.null()) return;
  std::string name;
  reader.Get(name);
  for (std::size_t i = 0; i < count; ++i) {
    if (name_of(static_cast<Enum>(i)) == name) {
      out = static_cast<Enum>(i);
      return;
    }
  }
  reader.Complain("\"" + name + "\" is not a known value");
}

template <class T>
std::string Text(const T& value) {
  JsonWriter writer;
  Write(writer, value);
  return writer.Take();
}

template <class T>
Result<T> Value(std::string_view text, std::string_view what) {
  const JsonReader reader = TRY(JsonReader::Parse(text, what));
  T value;
  if (reader.type() != JsonReader::Type::kObject) reader.Complain("should be an object");
  Read(reader, value);
  if (Result<void> status = reader.status(); !status) return std::unexpected(status.error());
  return value;
}

// Writes an optional part of a trial. It is null when there is none.
template <class T>
void WritePart(JsonWriter& writer, std::string_view name, const std::optional<T>& part) {
  writer.Key(name);
  if (part) {
    Write(writer, *part);
  } else {
    writer.Null();
  }
}

template <class T>
void ReadPart(const JsonReader& reader, std::optional<T>& part) {
  if (!reader.null()) Read(reader, part.emplace());
}

}  // namespace

void BeginSchema(JsonWriter& writer) { writer.BeginObject().Field("schema", kJsonSchema); }

void CheckSchema(const JsonReader& reader) {
  int schema = kJsonSchema;
  reader.Get("schema", schema);
  if (schema <= kJsonSchema) return;
  reader.Complain("schema " + std::to_string(schema) + " is newer than this pragma reads (" +
                  std::to_string(kJsonSchema) + "); use a newer pragma");
}

void Write(JsonWriter& writer, const Candidate& candidate) {
  BeginSchema(writer);
  writer.Field("id", candidate.id());
  writer.Field("language", LanguageName(candidate.language));
  writer.Field("compiler", candidate.compiler).Field("flags", candidate.flags);
  writer.Key("tunables").BeginObject();
  for (const auto& [name, value] : candidate.tunables) writer.Field(name, value);
  writer.EndObject().Key("files").BeginObject();
  for (const auto& [name, text] : candidate.files) writer.Field(name, text);
  writer.EndObject().EndObject();
}

// "id" is not read, because it follows from the other members.
void Read(const JsonReader& reader, Candidate& candidate) {
  CheckSchema(reader);
  ReadEnum(reader["language"], 4, LanguageName, candidate.language);
  reader.Get("compiler", candidate.compiler);
  reader.Get("flags", candidate.flags);
  reader.Get("tunables", candidate.tunables);
  reader.Get("files", candidate.files);
}

void Write(JsonWriter& writer, const Advice& advice) {
  BeginSchema(writer);
  writer.Field("base", kBaseNames.at(static_cast<std::size_t>(advice.base)));
  writer.Field("bottleneck", advice.bottleneck).Field("evidence", advice.evidence);
  writer.Field("change", advice.change).Field("extra_metrics", advice.extra_metrics);
  writer.Field("stop", advice.stop).Field("anchored", advice.anchored).EndObject();
}

void Read(const JsonReader& reader, Advice& advice) {
  CheckSchema(reader);
  ReadEnum(
      reader["base"], kBaseNames.size(),
      [](Base base) { return kBaseNames.at(static_cast<std::size_t>(base)); }, advice.base);
  reader.Get("bottleneck", advice.bottleneck);
  reader.Get("evidence", advice.evidence);
  reader.Get("change", advice.change);
  reader.Get("extra_metrics", advice.extra_metrics);
  reader.Get("stop", advice.stop);
  reader.Get("anchored", advice.anchored);
}

void Write(JsonWriter& writer, const Spent& spent) {
  writer.BeginObject().Field("seconds", spent.seconds).Field("tokens", spent.tokens());
  writer.Field("tokens_in", spent.tokens_in).Field("tokens_out", spent.tokens_out);
  writer.Field("usd", spent.usd);
  if (spent.tokens_cached > 0) writer.Field("tokens_cached", spent.tokens_cached);
  if (spent.usd_saved != 0) writer.Field("usd_saved", spent.usd_saved);
  writer.EndObject();
}

void Read(const JsonReader& reader, Spent& spent) {
  reader.Get("seconds", spent.seconds);
  reader.Get("tokens_in", spent.tokens_in);
  reader.Get("tokens_out", spent.tokens_out);
  reader.Get("usd", spent.usd);
  reader.Get("tokens_cached", spent.tokens_cached);
  reader.Get("usd_saved", spent.usd_saved);
}

namespace {

void WriteEdit(JsonWriter& writer, const std::optional<EditCheck>& edit) {
  writer.Key("edit");
  if (!edit) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("inside", edit->inside());
  writer.Field("planner_lines", edit->planner_lines).Field("coder_lines", edit->coder_lines);
  writer.EndObject();
}

void ReadEdit(const JsonReader& reader, std::optional<EditCheck>& edit) {
  if (reader.null()) return;
  reader.Get("planner_lines", edit.emplace().planner_lines);
  reader.Get("coder_lines", edit->coder_lines);
}

}  // namespace

void Write(JsonWriter& writer, const Trial& trial) {
  BeginSchema(writer);
  writer.Field("node", trial.node).Field("parent", trial.parent);
  writer.Field("role", RoleName(trial.role)).Field("author", trial.author);
  WritePart(writer, "advice", trial.advice);
  WritePart(writer, "candidate", trial.candidate);
  writer.Key("evaluation");
  Write(writer, trial.evaluation);
  WritePart(writer, "profile", trial.profile);
  writer.Key("spent");
  Write(writer, trial.spent);
  WriteEdit(writer, trial.edit);
  writer.Field("focus", trial.focus).Field("best", trial.best).EndObject();
}

void Read(const JsonReader& reader, Trial& trial) {
  CheckSchema(reader);
  reader.Require("node", trial.node);
  reader.Get("parent", trial.parent);
  ReadEnum(reader["role"], 3, RoleName, trial.role);
  reader.Get("author", trial.author);
  ReadPart(reader["advice"], trial.advice);
  ReadPart(reader["candidate"], trial.candidate);
  Read(reader["evaluation"], trial.evaluation);
  ReadPart(reader["profile"], trial.profile);
  Read(reader["spent"], trial.spent);
  reader.Get("best", trial.best);
  reader.Get("focus", trial.focus);
  ReadEdit(reader["edit"], trial.edit);
  if (trial.node < 1 || trial.parent < 0 || trial.parent >= trial.node) {
    reader.Complain("node " + std::to_string(trial.node) + " cannot have the parent " +
                    std::to_string(trial.parent));
  }
}

std::string ToJson(const Task& task) { return Text(task); }
std::string ToJson(const Candidate& candidate) { return Text(candidate); }
std::string ToJson(const Evaluation& evaluation) { return Text(evaluation); }
std::string ToJson(const Tuning& tuning) { return Text(tuning); }
std::string ToJson(const Advice& advice) { return Text(advice); }
std::string ToJson(const Profile& profile) { return Text(profile); }
std::string ToJson(const Trial& trial) { return Text(trial); }

Result<Task> TaskFromJson(std::string_view text) { return Value<Task>(text, "task"); }
Result<Candidate> CandidateFromJson(std::string_view text) {
  return Value<Candidate>(text, "candidate");
}
Result<Evaluation> EvaluationFromJson(std::string_view text) {
  return Value<Evaluation>(text, "evaluation");
}
Result<Tuning> TuningFromJson(std::string_view text) { return Value<Tuning>(text, "tuning"); }
Result<Advice> AdviceFromJson(std::string_view text) { return Value<Advice>(text, "advice"); }
Result<Profile> ProfileFromJson(std::string_view text) { return Value<Profile>(text, "profile"); }
Result<Trial> TrialFromJson(std::string_view text) { return Value<Trial>(text, "trial"); }

}  // namespace pragma
