#include "search/settings.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/roles.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/enum_names.h"
#include "core/json.h"
#include "core/json_parts.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/task.h"
#include "search/preset.h"
#include "search/preset_fields.h"
#include "store/store.h"

namespace pragma {
namespace {

class ToWriter final {
 public:
  explicit ToWriter(JsonWriter& writer) : writer_(writer) {}
  template <class T>
  void operator()(const PresetKey& key, const T& value) const {
    writer_.Field(key.name, value);
  }
  template <NamedEnum Enum>
  void operator()(const PresetKey& key, const Enum& value) const {
    writer_.Field(key.name, EnumName(value));
  }

 private:
  JsonWriter& writer_;
};

class FromReader final {
 public:
  explicit FromReader(const JsonReader& reader) : reader_(reader) {}
  template <class T>
  void operator()(const PresetKey& key, T& value) const {
    reader_.Get(key.name, value);
  }
  template <NamedEnum Enum>
  void operator()(const PresetKey& key, Enum& value) const {
    ReadEnum(reader_, key.name, value);
  }
  void operator()(const PresetKey& key, std::vector<std::string>& value) const {
    if (!reader_[key.name].null()) value.clear();
    reader_.Get(key.name, value);
  }

 private:
  const JsonReader& reader_;
};

void WritePreset(JsonWriter& writer, const Preset& preset) {
  const ToWriter to(writer);
  writer.BeginObject();
  VisitPreset(preset, to);
  writer.Key("tree").BeginObject();
  VisitTree(preset.tree, to);
  writer.EndObject().Key("beam").BeginObject();
  VisitBeam(preset.beam, to);
  writer.EndObject().Key("ucb").BeginObject();
  VisitUcb(preset.ucb, to);
  writer.EndObject().Key("families").BeginArray();
  for (const Family& family : preset.families) {
    writer.BeginObject();
    VisitFamily(family, to);
    writer.EndObject();
  }
  writer.EndArray().EndObject();
}

void ReadPreset(const JsonReader& reader, Preset& preset) {
  VisitPreset(preset, FromReader(reader));
  VisitTree(preset.tree, FromReader(reader["tree"]));
  VisitBeam(preset.beam, FromReader(reader["beam"]));
  VisitUcb(preset.ucb, FromReader(reader["ucb"]));
  for (const JsonReader& family : reader["families"].items())
    VisitFamily(preset.families.emplace_back(), FromReader(family));
}

void ReadBudget(const JsonReader& reader, Budget& budget) {
  reader.Get("attempts", budget.attempts);
  reader.Get("seconds", budget.seconds);
  reader.Get("tokens", budget.tokens);
  reader.Get("usd", budget.usd);
}

void ReadSeed(const JsonReader& reader, Seed& seed) {
  std::string hex = SeedToHex(seed);
  reader.Get(hex);
  if (Result<Seed> read = SeedFromHex(hex)) {
    seed = *read;
  } else {
    reader.Complain(read.error().message);
  }
}

// A missing language means C++, as in older runs.
void ReadLanguage(const JsonReader& reader, Language& language) {
  std::string name(LanguageName(language));
  reader.Get(name);
  for (const Language known : {Language::kCpp, Language::kCuda, Language::kTriton}) {
    if (name != LanguageName(known)) continue;
    language = known;
    return;
  }
  reader.Complain("is not a language that a search supports");
}

void WriteSeeds(JsonWriter& writer, const std::vector<SeedKernel>& seeds) {
  writer.Key("seeds").BeginArray();
  for (const SeedKernel& seed : seeds) {
    writer.BeginObject().Field("author", seed.author).Key("candidate");
    Write(writer, seed.candidate);
    writer.EndObject();
  }
  writer.EndArray();
}

void ReadSeeds(const JsonReader& reader, std::vector<SeedKernel>& seeds) {
  for (const JsonReader& item : reader.items()) {
    SeedKernel& seed = seeds.emplace_back();
    item.Get("author", seed.author);
    Read(item["candidate"], seed.candidate);
  }
}

RoleSettings RoleSettingsOf(const RunSettings& settings, double temperature) {
  return {.sampling = {.temperature = temperature, .max_tokens = settings.max_tokens},
          .max_reasks = settings.max_reasks,
          .prompt_bytes = settings.prompt_bytes,
          .allowed_flags = settings.allowed_flags,
          .metric_meanings = settings.metric_meanings,
          .techniques = settings.techniques,
          .tunes = settings.tune_seconds > 0,
          .language = settings.language,
          .processors = settings.processors,
          .prompt_folder = settings.prompt_folder};
}

}  // namespace

std::string ToJson(const RunSettings& settings) {
  JsonWriter writer;
  BeginSchema(writer);
  writer.Key("preset");
  WritePreset(writer, settings.preset);
  const Budget& budget = settings.budget;
  writer.Key("budget")
      .BeginObject()
      .Field("attempts", budget.attempts)
      .Field("seconds", budget.seconds);
  writer.Field("tokens", budget.tokens).Field("usd", budget.usd).EndObject();
  writer.Field("seed", SeedToHex(settings.seed)).Key("models").BeginObject();
  writer.Field("conductor", settings.conductor_model)
      .Field("coder", settings.coder_model)
      .Field("debugger", settings.debugger_model)
      .EndObject();
  // What is the default is left out as in older versions, because benchmarks identify their runs
  // by this text.
  if (settings.language != Language::kCpp)
    writer.Field("language", LanguageName(settings.language));
  if (!settings.processors.empty()) writer.Field("processors", settings.processors);
  if (!settings.prompt_folder.empty()) writer.Field("prompt_folder", settings.prompt_folder);
  writer.Field("jobs", settings.jobs);
  WriteSeeds(writer, settings.seeds);
  writer.Key("example").BeginObject().Field("title", settings.example.title);
  writer.Field("code", settings.example.code).EndObject();
  writer.Field("max_tokens", settings.max_tokens).Field("max_reasks", settings.max_reasks);
  writer.Field("prompt_bytes", settings.prompt_bytes)
      .Field("allowed_flags", settings.allowed_flags)
      .Field("kernel_header", settings.kernel_header);
  writer.Field("machine", settings.machine).Field("advice_from_user", settings.advice_from_user);
  for (const auto& [key, texts] :
       {std::pair{"metric_meanings", &settings.metric_meanings},
        std::pair{"techniques", &settings.techniques}, std::pair{"options", &settings.options}}) {
    writer.Key(key).BeginObject();
    for (const auto& [name, text] : *texts) writer.Field(name, text);
    writer.EndObject();
  }
  writer.Field("tune_seconds", settings.tune_seconds);
  writer.Field("recording", settings.recording).EndObject();
  return writer.Take();
}

Result<RunSettings> RunSettingsFromJson(std::string_view text) {
  const JsonReader reader = TRY(JsonReader::Parse(text, "settings of the run"));
  RunSettings settings;
  CheckSchema(reader);
  ReadPreset(reader["preset"], settings.preset);
  ReadBudget(reader["budget"], settings.budget);
  ReadSeed(reader["seed"], settings.seed);
  reader["models"].Get("conductor", settings.conductor_model);
  reader["models"].Get("coder", settings.coder_model);
  reader["models"].Get("debugger", settings.debugger_model);
  ReadLanguage(reader["language"], settings.language);
  reader.Get("processors", settings.processors);
  reader.Get("prompt_folder", settings.prompt_folder);
  reader.Get("jobs", settings.jobs);
  ReadSeeds(reader["seeds"], settings.seeds);
  reader["example"].Get("title", settings.example.title);
  reader["example"].Get("code", settings.example.code);
  reader.Get("max_tokens", settings.max_tokens);
  reader.Get("max_reasks", settings.max_reasks);
  reader.Get("prompt_bytes", settings.prompt_bytes);
  reader.Get("allowed_flags", settings.allowed_flags);
  reader.Get("kernel_header", settings.kernel_header);
  reader.Get("machine", settings.machine);
  reader.Get("advice_from_user", settings.advice_from_user);
  reader.Get("metric_meanings", settings.metric_meanings);
  reader.Get("techniques", settings.techniques);
  reader.Get("options", settings.options);
  reader.Get("tune_seconds", settings.tune_seconds);
  reader.Get("recording", settings.recording);
  if (auto status = reader.status(); !status) return std::unexpected(status.error());
  return settings;
}

RoleSettings ConductorSettings(const RunSettings& settings) {
  return RoleSettingsOf(settings, settings.preset.conductor_temperature);
}

RoleSettings CoderSettings(const RunSettings& settings) {
  return RoleSettingsOf(settings, settings.preset.coder_temperature);
}

RoleSettings DebuggerSettings(const RunSettings& settings) {
  return RoleSettingsOf(settings, settings.preset.debugger_temperature);
}

PromptSet Prompts(const RunSettings& settings) {
  return {.conductor = settings.preset.conductor_prompt,
          .coder = settings.preset.coder_prompt,
          .multi_turn = settings.preset.policy == PolicyKind::kConversation,
          .anchors = settings.preset.anchors,
          .skeleton_first = settings.preset.first_hop == "skeleton"};
}

PromptSet DebuggerPrompts(const RunSettings& settings) {
  PromptSet prompts = Prompts(settings);
  prompts.coder = settings.preset.debugger_prompt;
  prompts.coder_role = "debugger";
  return prompts;
}

std::string NewRunId(std::int64_t unix_millis) {
  const std::time_t seconds = unix_millis / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> stamp{};
  std::strftime(stamp.data(), stamp.size(), "%Y%m%d-%H%M%S", &parts);
  return fmt::format("r-{}-{:04x}", stamp.data(), SystemSeed()[0] & 0xffffU);
}

Result<RunRecord> StartRun(Store& store, const Task& task, const std::filesystem::path& task_path,
                           const RunSettings& settings) {
  constexpr int kTries = 20;  // two runs in the same second may draw the same digits
  RunRecord run{.task_name = task.name,
                .task_json = ToJson(task),
                .task_path = task_path,
                .strategy = settings.preset.name,
                .settings_json = ToJson(settings),
                .state = "running"};
  Result<void> created;
  for (int i = 0; i < kTries; ++i) {
    run.created_ms = UnixMillis();
    run.id = NewRunId(run.created_ms);
    created = store.CreateRun(run);
    if (created) return run;
    if (created.error().kind != ErrorKind::kUsage) break;
  }
  return std::unexpected(created.error());
}

}  // namespace pragma
