// Reads a bundle from an untrusted author.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/json_parts.h"
#include "core/json_reader.h"
#include "core/judging.h"
#include "evidence/bundle.h"
#include "evidence/lineage.h"

namespace pragma {
namespace {

constexpr std::string_view kSealBegin = ",\"sha256\":\"";
constexpr std::string_view kSealEnd = "\"}\n";
constexpr int kMaxNesting = 64;
constexpr std::size_t kMaxValues = 1'000'000;
constexpr int kMaxThreads = 4096;
constexpr std::size_t kMaxSides = 64;  // per timing session

std::unexpected<Error> Wrong(std::string_view name, const std::string& what) {
  return Fail(ErrorKind::kUsage, std::string(name) + what);
}

// Checks the hash and returns the object that was sealed.
Result<OpenedBundle> CheckSeal(std::string_view text, std::string_view name, std::string& object) {
  const std::size_t seal = kSealBegin.size() + kSha256Digits + kSealEnd.size();
  const std::size_t begin = text.size() > seal ? text.size() - seal : 0;
  if (begin == 0 || !text.substr(begin).starts_with(kSealBegin) || !text.ends_with(kSealEnd)) {
    return Wrong(name,
                 " is not an evidence bundle, or its end was altered: it does not end with the "
                 "hash of its content");
  }
  const std::string said(text.substr(begin + kSealBegin.size(), kSha256Digits));
  object = std::string(text.substr(0, begin)) + "}";
  if (Sha256Hex(object) != said) {
    return Wrong(name, " was altered: its content does not have the hash that it ends with");
  }
  return OpenedBundle{.bundle = {}, .sha256 = said};
}

// Returns true if parsing the text would need a lot of memory. No genuine bundle is like that.
bool IsUnreasonable(std::string_view text) {
  int depth = 0;
  std::size_t values = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',') ++values;
    if (depth > kMaxNesting || values > kMaxValues) return true;
  }
  return false;
}

void ReadKind(const JsonReader& reader) {
  std::string kind;
  int schema = 0;
  reader.Require("kind", kind);
  reader.Require("schema", schema);
  CheckSchema(reader);
  if (kind != "pragma-bundle") reader["kind"].Complain("this is not an evidence bundle");
  if (schema < 1) reader["schema"].Complain("there is no such schema");
}

void ReadTask(const JsonReader& reader, Bundle& bundle) {
  std::string said;
  reader.Require("name", bundle.task_name);
  reader.Require("sha256", said);
  reader.Require("source", bundle.task_source);
  if (bundle.task_source.size() > kMaxTaskBytes) reader["source"].Complain("is too large");
  if (Sha256Hex(bundle.task_source) != said)
    reader["sha256"].Complain("is not the hash of the task's source");
  std::size_t bytes = 0;
  for (const auto& [path, file] : reader["files"].members()) {
    file.Get(bundle.task_files[path]);
    bytes += bundle.task_files[path].size();
    if (!IsTaskPath(path)) reader["files"].Complain("names a file outside the task's folder");
  }
  if (bytes > kMaxTaskBytes) reader["files"].Complain("are too large");
}

void ReadCandidate(const JsonReader& reader, Candidate& candidate) {
  std::string said;
  Read(reader, candidate);
  reader.Require("id", said);
  if (candidate.language == Language::kPython)
    reader["language"].Complain("candidates in plain Python cannot be judged again");
  const Candidate empty = CandidateIn(candidate.language, "");
  const std::string& file = empty.files.begin()->first;
  if (candidate.files.size() != 1 || !candidate.files.contains(file))
    reader["files"].Complain("the candidate must be exactly one file, " + file);
  const bool clang = candidate.language == Language::kCpp && candidate.compiler == "clang++";
  if (candidate.compiler != empty.compiler && !clang)
    reader["compiler"].Complain("does not compile this language");
  if (candidate.id() != said) reader["id"].Complain("is not the id of this candidate");
}

// Reads the field as text. Durations are stored in seconds. Older bundles lack what had its
// default.
std::string TextOf(const JsonReader& reader, const JudgingField& field) {
  switch (field.kind) {
    case JudgingField::Kind::kCount: {
      int count = 0;
      reader.Require(field.name, count);
      return std::to_string(count);
    }
    case JudgingField::Kind::kDuration: {
      double seconds = 0;
      reader.Require(std::string(field.name) + "_s", seconds);
      const bool good = std::isfinite(seconds) && seconds > 0;
      if (!good) reader[std::string(field.name) + "_s"].Complain("is out of range");
      return good ? fmt::format("{}s", seconds) : "";
    }
    case JudgingField::Kind::kFlag: {
      bool given = false;
      reader.Get(field.name, given);
      return given ? "true" : "false";
    }
    default: {
      std::string text;
      if (field.kind != JudgingField::Kind::kChoice) {
        reader.Get(field.name, text);
      } else if (field.record == JudgingField::Record::kIfGiven) {
        text = field.choices.front();  // in bundles from before there was this choice
        reader.Get(field.name, text);
      } else {
        reader.Require(field.name, text);
      }
      return text;
    }
  }
}

void ReadOptions(const JsonReader& reader, BundleOptions& options) {
  for (const JudgingField& field : JudgingFields()) {
    if (!field.in_bundle) continue;
    const std::string text = TextOf(reader, field);
    const std::string complaint = field.Complaint(text);
    if (complaint.empty()) {
      field.set(options.judging, text);
    } else if (field.kind != JudgingField::Kind::kDuration) {
      reader[field.name].Complain(complaint);
    }
  }
  if (options.judging.threads > kMaxThreads) reader["threads"].Complain("is out of range");
  options.judging.updates = false;  // of bundles from before there were such outputs
  reader.Get("updates", options.judging.updates);
  reader.Require("check_sets", options.check_sets);
  reader.Require("timing_budget_s", options.timing_budget_s);
}

void ReadSamples(const JsonReader& reader, Evaluation& evaluation) {
  const std::vector<JsonReader> sides = reader.items();
  if (sides.size() > kMaxSides) return reader.Complain("has too many sides");
  for (const JsonReader& item : sides) {
    RawSamples& side = evaluation.samples.emplace_back();
    item.Require("session", side.session);
    item.Require("side", side.side);
    item.Get("doorbell_us", side.doorbell_us);
    item.Get("seconds", side.seconds);
  }
}

void ReadEvaluation(const JsonReader& reader, Evaluation& evaluation) {
  Read(reader["evaluation"], evaluation);
  ReadSamples(reader["samples"], evaluation);
  if (!evaluation.passed()) reader["evaluation"].Complain("did not pass, so it is not evidence");
  if (!SeedFromHex(evaluation.seed)) reader["evaluation"]["seed"].Complain("is not a seed");
}

void ReadAncestor(const JsonReader& reader, Ancestor& ancestor) {
  reader.Require("node", ancestor.node);
  reader.Get("parent", ancestor.parent);
  reader.Get("author", ancestor.author);
  reader.Get("candidate", ancestor.candidate);
  std::string status;
  reader.Require("status", status);
  if (const auto known = StatusFromName(status)) {
    ancestor.status = *known;
  } else {
    reader["status"].Complain("is not a known status");
  }
  const JsonReader ratio = reader["speedup_eager"];
  if (ratio.null()) return;
  Interval& interval = ancestor.speedup_eager.emplace();
  ratio.Get("median", interval.median);
  const auto ends = ratio["ci95"].items();
  if (ends.size() != 2) return ratio["ci95"].Complain("should be [low, high]");
  ends[0].Get(interval.low);
  ends[1].Get(interval.high);
}

void ReadLineage(const JsonReader& reader, Lineage& lineage) {
  reader.Require("run", lineage.run);
  reader.Get("strategy", lineage.strategy);
  reader.Get("node", lineage.node);
  reader.Get("role", lineage.role);
  reader.Get("author", lineage.author);
  if (!reader["advice"].null()) Read(reader["advice"], lineage.advice.emplace());
  for (const JsonReader& item : reader["ancestors"].items())
    ReadAncestor(item, lineage.ancestors.emplace_back());
  for (const JsonReader& item : reader["calls"].items()) {
    LineageCall& call = lineage.calls.emplace_back();
    item.Get("role", call.role);
    item.Get("ordinal", call.ordinal);
    item.Get("model", call.model);
    call.messages = item["messages"].Dump();
    call.completion = item["completion"].Dump();
  }
}

void ReadBundle(const JsonReader& reader, Bundle& bundle) {
  reader.Get("pragma", bundle.pragma);
  ReadTask(reader["task"], bundle);
  reader.Get("kernel_header_sha256", bundle.kernel_header_sha256);
  ReadCandidate(reader["candidate"], bundle.candidate);
  if (!reader["against"].null()) ReadCandidate(reader["against"], bundle.against.emplace());
  if (bundle.against && bundle.against->language != bundle.candidate.language)
    reader["against"].Complain("is in another language");
  ReadOptions(reader["options"], bundle.options);
  reader.Get("system", bundle.system);
  if (reader["machine"].type() != JsonReader::Type::kObject)
    reader["machine"].Complain("should be an object");
  bundle.machine = reader["machine"].Dump();
  ReadEvaluation(reader, bundle.evaluation);
  if (!reader["lineage"].null()) ReadLineage(reader["lineage"], bundle.lineage.emplace());
}

}  // namespace

Result<OpenedBundle> OpenBundle(std::string_view text, std::string_view name) {
  if (text.size() > kMaxBundleBytes) return Wrong(name, " is too large for an evidence bundle");
  std::string object;
  OpenedBundle opened = TRY(CheckSeal(text, name, object));
  if (IsUnreasonable(object)) return Wrong(name, " is nested too deeply or holds too many values");
  const auto reader = JsonReader::Parse(object, name);
  if (!reader) return Fail(ErrorKind::kUsage, reader.error().message);
  ReadKind(*reader);
  // If the schema is newer, nothing else is read, because its names may have other meanings.
  if (reader->status()) ReadBundle(*reader, opened.bundle);
  if (const auto status = reader->status(); !status)
    return Fail(ErrorKind::kUsage, status.error().message);
  return opened;
}

}  // namespace pragma
