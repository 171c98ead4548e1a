#include "search/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "core/enum_names.h"
#include "core/json.h"
#include "core/json_parts.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "evidence/lineage.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

constexpr std::size_t kRecordingBytes = std::size_t{512} << 20U;

// Returns the JSON as one line, because stored JSON may be formatted for readability.
std::string OneLine(const std::string& json) {
  if (json.find('\n') == std::string::npos) return json;
  const auto reader = JsonReader::Parse(json, "a stored value");
  return reader ? reader->Dump() : "null";
}

void BeginLine(JsonWriter& writer, std::string_view kind) {
  BeginSchema(writer);
  writer.Field("kind", kind);
}

std::string RunLine(const Recording& recording) {
  // A recording is passed on to other people, so it must not contain folders or commands of this
  // machine.
  RunSettings settings = recording.settings;
  settings.conductor_model = WithoutPlace(settings.conductor_model);
  settings.coder_model = WithoutPlace(settings.coder_model);
  settings.debugger_model = WithoutPlace(settings.debugger_model);
  JsonWriter writer;
  BeginLine(writer, "run");
  writer.Field("run", recording.run).Key("settings").Raw(ToJson(settings));
  writer.Key("task");
  Write(writer, recording.task);
  writer.EndObject();
  return writer.Take();
}

std::string CallLine(const CallRecord& call) {
  JsonWriter writer;
  BeginLine(writer, "call");
  writer.Field("node", call.node).Field("role", call.role).Field("ordinal", call.ordinal);
  writer.Field("model", call.model).Key("messages").Raw(OneLine(call.prompt_json));
  writer.Key("completion").Raw(OneLine(call.completion_json)).EndObject();
  return writer.Take();
}

std::string TrialLine(const Trial& trial) {
  JsonWriter writer;
  BeginLine(writer, "trial");
  writer.Key("trial");
  Write(writer, trial);
  writer.EndObject();
  return writer.Take();
}

std::string EndLine(const Recording& recording) {
  JsonWriter writer;
  BeginLine(writer, "end");
  writer.Field("stopped", EnumName(recording.stopped));
  writer.Key("final")
      .Raw(recording.final_json.empty() ? "null" : OneLine(recording.final_json))
      .EndObject();
  return writer.Take();
}

void ReadRun(const JsonReader& line, Recording& recording) {
  line.Require("run", recording.run);
  Read(line["task"], recording.task);
  if (auto settings = RunSettingsFromJson(line["settings"].Dump())) {
    recording.settings = std::move(*settings);
  } else {
    line.Complain(settings.error().message);
  }
}

void ReadCall(const JsonReader& line, Recording& recording) {
  CallRecord& call = recording.calls.emplace_back();
  call.run = recording.run;
  line.Require("node", call.node);
  line.Require("role", call.role);
  line.Get("ordinal", call.ordinal);
  line.Get("model", call.model);
  call.prompt_json = line["messages"].Dump();
  call.completion_json = line["completion"].Dump();
}

void ReadTrial(const JsonReader& line, Recording& recording) {
  Trial& trial = recording.trials.emplace_back();
  Read(line["trial"], trial);
  if (trial.node != static_cast<int>(recording.trials.size())) {
    line.Complain("trial " + std::to_string(trial.node) + " is out of order");
  }
}

void ReadEnd(const JsonReader& line, Recording& recording) {
  ReadEnum(line, "stopped", recording.stopped);
  if (!line["final"].null()) recording.final_json = line["final"].Dump();
}

// Skips lines of an unknown kind, because later versions may add some.
Result<void> ReadLine(std::string_view text, Recording& recording) {
  const JsonReader line = TRY(JsonReader::Parse(text, "the line"));
  std::string kind;
  CheckSchema(line);
  line.Require("kind", kind);
  if (recording.run.empty() && kind != "run") line.Complain("a recording begins with its run");
  if (kind == "run") ReadRun(line, recording);
  if (kind == "call") ReadCall(line, recording);
  if (kind == "trial") ReadTrial(line, recording);
  if (kind == "end") ReadEnd(line, recording);
  return line.status();
}

}  // namespace

Result<Recording> RecordRun(const Store& store, const std::string& run) {
  const RunRecord record = TRY(store.FindRun(run));
  return Recording{.run = record.id,
                   .task = TRY(TaskFromJson(record.task_json)),
                   .settings = TRY(RunSettingsFromJson(record.settings_json)),
                   .stopped = record.stopped,
                   .final_json = record.final_json,
                   .calls = TRY(store.Calls(record.id)),
                   .trials = TRY(store.Trials(record.id))};
}

std::string RecordingText(const Recording& recording) {
  std::string text = RunLine(recording) + "\n";
  auto call = recording.calls.begin();
  for (const Trial& trial : recording.trials) {
    for (; call != recording.calls.end() && call->node <= trial.node; ++call)
      text += CallLine(*call) + "\n";
    text += TrialLine(trial) + "\n";
  }
  for (; call != recording.calls.end(); ++call) text += CallLine(*call) + "\n";
  if (recording.stopped != StopReason::kNone) text += EndLine(recording) + "\n";
  return text;
}

Result<Recording> ParseRecording(std::string_view text, std::string_view name) {
  Recording recording;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (auto read = ReadLine(line, recording); !read) {
      return Fail(ErrorKind::kUsage, fmt::format("{}:{}: {}", name, number, read.error().message));
    }
  }
  if (recording.run.empty())
    return Fail(ErrorKind::kUsage, std::string(name) + " holds no recorded run");
  return recording;
}

Result<void> ExportRecording(const Store& store, const std::string& run,
                             const std::filesystem::path& path) {
  const Recording recording = TRY(RecordRun(store, run));
  return WriteFileAtomic(path, RecordingText(recording));
}

Result<Recording> LoadRecording(const std::filesystem::path& path) {
  Result<std::string> text = ReadFile(path, kRecordingBytes);
  if (!text) return Fail(ErrorKind::kUsage, text.error().message);
  return ParseRecording(*text, path.string());
}

}  // namespace pragma
