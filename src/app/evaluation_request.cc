#include "app/evaluation_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/candidate_file.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "core/candidate.h"
#include "core/json.h"
#include "core/judging.h"
#include "report/json_text.h"
#include "task/shapes.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::unexpected<Error> WrongRequest(const std::string& what) {
  return Fail(ErrorKind::kUsage, "the request is not valid: " + what);
}

std::vector<std::string> KnownKeys() {
  std::vector<std::string> known{"schema", "task",     "candidate", "against",      "measure",
                                 "repeat", "sanitize", "call",      "tune_seconds", "retune"};
  for (const JudgingField& field : JudgingFields()) known.emplace_back(field.name);
  return known;
}

Result<void> CheckKeys(const Json& value) {
  const std::vector<std::string> known = KnownKeys();
  for (const auto& [key, unused] : value.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = Nearest(key, known);
    return WrongRequest("unknown key '" + key + "'" +
                        (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  if (value.contains("schema") && value["schema"] != kJsonSchema) {
    return WrongRequest("its schema is not " + std::to_string(kJsonSchema));
  }
  return {};
}

// Returns the text under `key`, which must be one of `allowed`. Returns an empty text if `key` is
// missing.
Result<std::string> Choice(const Json& value, const std::string& key,
                           const std::vector<std::string>& allowed) {
  if (!value.contains(key)) return "";
  const Json& given = value[key];
  if (given.is_string() && std::ranges::find(allowed, given.get<std::string>()) != allowed.end()) {
    return given.get<std::string>();
  }
  return WrongRequest("\"" + key + "\" must be one of " + Join(allowed, ", "));
}

Result<int> Count(const Json& value, const std::string& key, int otherwise) {
  if (!value.contains(key)) return otherwise;
  const bool good = value[key].is_number_unsigned() && value[key] >= 1 && value[key] <= 1'000'000;
  if (!good) return WrongRequest("\"" + key + "\" must be a whole number from 1");
  return value[key].get<int>();
}

Result<bool> Flag(const Json& value, const std::string& key) {
  if (!value.contains(key)) return false;
  if (!value[key].is_boolean()) return WrongRequest("\"" + key + "\" must be true or false");
  return value[key].get<bool>();
}

// Returns the value as the text of a judging field.
Result<std::string> TextOf(const Json& value, const JudgingField& field) {
  const auto wrong = [&field](const std::string& what) {
    return WrongRequest(fmt::format("\"{}\" {}", field.name, what));
  };
  switch (field.kind) {
    case JudgingField::Kind::kCount:
      if (!value.is_number_unsigned()) return wrong("must be a whole number from 1");
      return value.dump();
    case JudgingField::Kind::kFlag:
      if (!value.is_boolean()) return wrong("must be true or false");
      return value.dump();
    case JudgingField::Kind::kJson: return value.dump();
    case JudgingField::Kind::kDuration:
      if (!value.is_string()) return wrong("must be a text like \"30s\"");
      return value.get<std::string>();
    default:
      if (!value.is_string()) return wrong("must be a text");
      return value.get<std::string>();
  }
}

Result<JudgingTexts> ReadJudging(const Json& value) {
  JudgingTexts texts;
  for (const JudgingField& field : JudgingFields()) {
    const std::string name(field.name);
    if (!value.contains(name)) continue;
    std::string text = TRY(TextOf(value[name], field));
    if (field.name == "shapes") TRY(ParseShapes(text, "the request's \"shapes\""));
    if (const std::string complaint = field.Complaint(text); !complaint.empty()) {
      const bool duration = field.kind == JudgingField::Kind::kDuration;
      return WrongRequest(fmt::format("\"{}\"{} {}", name, duration ? ":" : "", complaint));
    }
    texts.emplace(name, std::move(text));
  }
  return texts;
}

// Returns a text of a judging field as the value that ReadJudging reads.
Json ValueOf(const JudgingField& field, const std::string& text) {
  using FieldKind = JudgingField::Kind;
  const bool plain = field.kind == FieldKind::kCount || field.kind == FieldKind::kFlag ||
                     field.kind == FieldKind::kJson;
  return plain ? Json::parse(text) : Json(text);
}

std::string_view MeasureName(Measure measure) {
  if (measure == Measure::kNothing) return "nothing";
  return measure == Measure::kEager ? "eager" : "compile";
}

Result<fs::path> TaskPath(const Json& value, const fs::path& folder, const fs::path& scratch) {
  if (!value.contains("task") || !value["task"].is_object())
    return WrongRequest("it has no \"task\"");
  const Json& task = value["task"];
  if (task.contains("path") && task["path"].is_string()) {
    return folder / task["path"].get<std::string>();
  }
  if (!task.contains("source") || !task["source"].is_string()) {
    return WrongRequest("\"task\" needs \"path\" or \"source\"");
  }
  const std::string name = task.value("name", Json("task")).is_string()
                               ? task.value("name", std::string("task"))
                               : std::string("task");
  if (name.empty() || name.find('/') != std::string::npos)
    return WrongRequest("\"name\" has a slash");
  const fs::path file = scratch / (name + ".py");
  TRY(WriteFileAtomic(file, task["source"].get<std::string>()));
  return file;
}

Result<Candidate> CandidateOf(const Json& value, const fs::path& folder, Language language) {
  if (value.is_object() && value.contains("path") && value["path"].is_string()) {
    return LoadCandidate(folder / value["path"].get<std::string>(), language);
  }
  return CandidateFromObject(value.dump(), folder);
}

Result<void> ReadTune(const Json& value, TuneChoice& tune) {
  const Json seconds = value.value("tune_seconds", Json(0));
  if (!seconds.is_number() || !(seconds >= 0) || !(seconds <= 86'400))
    return WrongRequest("\"tune_seconds\" must be a number from 0 to 86400");
  tune.limit = Seconds{seconds.get<double>()};
  tune.again = TRY(Flag(value, "retune"));
  return {};
}

// Rejects text that is not UTF-8. JSON cannot hold it, and what is judged must be what was given.
Result<void> CheckText(const std::string& text, const std::string& what) {
  if (ToValidUtf8(text) == text) return {};
  return WrongRequest(what + " holds bytes that are not UTF-8 text");
}

Result<Json> TaskValue(const EvaluationRequest& request) {
  const std::string path = fs::absolute(request.task).lexically_normal().string();
  TRY(CheckText(path, "the task's path"));
  if (!request.task_given_as_text) return Json{{"path", path}};
  const std::string source = TRY(ReadFile(request.task));
  TRY(CheckText(source, "the task"));
  return Json{{"name", request.task.stem().string()}, {"source", source}};
}

Result<Json> CandidateValue(const Candidate& candidate) {
  for (const auto& [name, text] : candidate.files) TRY(CheckText(name + text, "the candidate"));
  return Json::parse(ToJson(candidate));
}

}  // namespace

Result<EvaluationRequest> ParseRequest(std::string_view text, const fs::path& folder,
                                       const fs::path& scratch) {
  const Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return WrongRequest("it is not a JSON object");
  TRY(CheckKeys(value));
  if (!value.contains("candidate")) return WrongRequest("it has no \"candidate\"");
  EvaluationRequest request;
  request.task = TRY(TaskPath(value, folder, scratch));
  request.task_given_as_text = !value["task"].contains("path");
  request.judging = TRY(ReadJudging(value));
  const Language language = JudgingFrom(request.judging).language;
  request.candidates.push_back(TRY(CandidateOf(value["candidate"], folder, language)));
  if (value.contains("against")) {
    request.against = TRY(CandidateOf(value["against"], folder, language));
  }
  const std::string measure = TRY(Choice(value, "measure", {"nothing", "eager", "compile"}));
  if (measure == "nothing") request.measure = Measure::kNothing;
  if (measure == "eager") request.measure = Measure::kEager;
  request.repeat = TRY(Count(value, "repeat", 1));
  request.sanitize = TRY(Flag(value, "sanitize"));
  TRY(ReadTune(value, request.tune));
  request.call = TRY(Flag(value, "call"));
  return request;
}

Result<std::string> RequestText(const EvaluationRequest& request, std::size_t at) {
  Json value = {{"schema", kJsonSchema},
                {"task", TRY(TaskValue(request))},
                {"candidate", TRY(CandidateValue(request.candidates.at(at)))},
                {"measure", MeasureName(request.measure)},
                {"repeat", request.repeat},
                {"sanitize", request.sanitize},
                {"call", request.call}};
  if (request.against) value["against"] = TRY(CandidateValue(*request.against));
  for (const JudgingField& field : JudgingFields()) {
    const auto given = request.judging.find(field.name);
    if (given != request.judging.end())
      value[std::string(field.name)] = ValueOf(field, given->second);
  }
  if (request.tune.limit > Seconds{0}) {
    value["tune_seconds"] = request.tune.limit.count();
    value["retune"] = request.tune.again;
  }
  return value.dump();
}

Result<void> CheckTarget(const EvaluationRequest& request, Language language) {
  std::vector<Candidate> all = request.candidates;
  if (request.against) all.push_back(*request.against);
  for (const Candidate& candidate : all) {
    const std::string_view own = TargetName(candidate.language);
    if (own == TargetName(language)) continue;
    return Fail(ErrorKind::kUsage,
                fmt::format("a candidate in {} needs --target {}, and this is --target {}",
                            LanguageName(candidate.language), own, TargetName(language)));
  }
  return {};
}

Result<void> CheckTaskFile(const fs::path& task) {
  std::error_code error;
  if (!fs::exists(task, error)) {
    return Fail(ErrorKind::kTask, "no such task file: " + task.string());
  }
  if (!fs::is_regular_file(task, error)) {
    return Fail(ErrorKind::kTask, "the task is not a file: " + task.string());
  }
  if (::access(task.c_str(), R_OK) != 0) {
    return Fail(ErrorKind::kTask, "the task file may not be read: " + task.string());
  }
  return {};
}

}  // namespace pragma
