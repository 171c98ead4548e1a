// Reads presets from strategies/<name>.toml. An unknown key is an error, so that a misspelt one is
// not silently replaced by its default.
#include "search/preset.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "base/toml_reader.h"
#include "core/enum_names.h"
#include "search/preset_fields.h"

namespace pragma {
namespace {

std::string Suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = Nearest(word, known);
  return near.empty() ? "known are " + Join(known, ", ") : "did you mean \"" + near + "\"?";
}

// Reads one key of the file. A missing key keeps its default.
class FromToml final {
 public:
  explicit FromToml(TomlReader& file) : file_(file) {}

  void operator()(const PresetKey& key, std::string& value) const {
    if (key.words.empty()) return file_.Get(key.name, value);
    file_.GetWord(key.name, key.words, value);
  }
  template <NamedEnum Enum>
  void operator()(const PresetKey& key, Enum& value) const {
    std::string name = EnumName(value);
    file_.GetWord(key.name, AllEnumNames<Enum>(), name);
    value = EnumFromName<Enum>(name).value_or(value);
  }
  void operator()(const PresetKey& key, bool& value) const { file_.Get(key.name, value); }
  void operator()(const PresetKey& key, std::vector<std::string>& value) const {
    if (file_.Has(key.name)) value.clear();
    file_.Get(key.name, value);
    for (const std::string& word : value) {
      if (!key.words.empty() && std::ranges::find(key.words, word) == key.words.end())
        file_.Complain(key.name, fmt::format("has \"{}\"; {}", word, Suggestion(word, key.words)));
    }
  }
  template <class Number>
  void operator()(const PresetKey& key, Number& value) const {
    file_.Get(key.name, value);
    if (value < key.least) file_.Complain(key.name, fmt::format("must be at least {}", key.least));
    if (value > key.most) file_.Complain(key.name, fmt::format("must be at most {}", key.most));
  }

 private:
  TomlReader& file_;
};

// Lists each key as "prefix.key" with its value and its meaning.
class ToSettings final {
 public:
  ToSettings(std::string prefix, std::vector<PresetSetting>& settings)
      : prefix_(std::move(prefix)), settings_(settings) {}

  void operator()(const PresetKey& key, const std::vector<std::string>& value) const {
    Add(key, Join(value, ", "));
  }
  void operator()(const PresetKey& key, const std::string& value) const { Add(key, value); }
  template <NamedEnum Enum>
  void operator()(const PresetKey& key, const Enum& value) const {
    Add(key, EnumName(value));
  }
  template <class T>
  void operator()(const PresetKey& key, const T& value) const {
    Add(key, fmt::format("{}", value));
  }

 private:
  void Add(const PresetKey& key, const std::string& value) const {
    settings_.push_back({prefix_ + key.name, value.empty() ? "-" : value, key.about});
  }
  std::string prefix_;
  std::vector<PresetSetting>& settings_;
};

void ReadTables(TomlReader& file, Preset& preset) {
  file.Table("tree", [&](TomlReader& table) { VisitTree(preset.tree, FromToml(table)); });
  file.Table("beam", [&](TomlReader& table) { VisitBeam(preset.beam, FromToml(table)); });
  file.Table("ucb", [&](TomlReader& table) { VisitUcb(preset.ucb, FromToml(table)); });
  file.Tables("family", [&](TomlReader& table) {
    VisitFamily(preset.families.emplace_back(), FromToml(table));
    if (preset.families.back().name.empty()) table.Complain("name", "is missing");
  });
}

Result<Preset> ReadPreset(const std::filesystem::path& path) {
  const std::string text = TRY(ReadFile(path));
  TomlReader file = TRY(TomlReader::Parse(text, "the strategy " + path.string()));
  Preset preset;
  VisitPreset(preset, FromToml(file));
  if (preset.name.empty()) file.Complain("name", "is missing");
  if (preset.anchors && !preset.conductor) file.Complain("anchors", "needs conductor = true");
  ReadTables(file, preset);
  file.NoMoreKeys();
  TRY(file.status());
  return preset;
}

Result<std::vector<std::filesystem::path>> PresetFiles(const std::string& strategies_dir) {
  std::vector<std::filesystem::path> files;
  std::error_code code;
  for (std::filesystem::directory_iterator it(strategies_dir, code), end; !code && it != end;
       it.increment(code)) {
    if (it->path().extension() == ".toml") files.push_back(it->path());
  }
  if (code)
    return Fail("cannot read the folder of strategies " + strategies_dir + ": " + code.message());
  std::ranges::sort(files);
  return files;
}

}  // namespace

bool AdviceChoosesBase(const Preset& preset) {
  return preset.policy == PolicyKind::kLinear || preset.policy == PolicyKind::kConversation ||
         preset.policy == PolicyKind::kIndependent;
}

std::vector<PresetSetting> Explain(const Preset& preset) {
  std::vector<PresetSetting> settings;
  VisitPreset(preset, ToSettings("", settings));
  if (preset.policy == PolicyKind::kEpsilonGreedy)
    VisitTree(preset.tree, ToSettings("tree.", settings));
  if (preset.policy == PolicyKind::kBeam) VisitBeam(preset.beam, ToSettings("beam.", settings));
  if (preset.policy == PolicyKind::kUcb) VisitUcb(preset.ucb, ToSettings("ucb.", settings));
  for (const Family& family : preset.families)
    settings.push_back({"family", family.name, family.about});
  return settings;
}

Result<Preset> LoadPreset(const std::string& strategies_dir, const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml")) {
    return ReadPreset(name_or_path);
  }
  std::vector<std::string> names;
  for (const std::filesystem::path& file : TRY(PresetFiles(strategies_dir))) {
    if (file.stem() == name_or_path) return ReadPreset(file);
    names.push_back(file.stem());
  }
  return Fail(ErrorKind::kUsage, fmt::format("there is no strategy \"{}\"; {}", name_or_path,
                                             Suggestion(name_or_path, names)));
}

Result<std::vector<Preset>> ListPresets(const std::string& strategies_dir) {
  std::vector<Preset> presets;
  for (const std::filesystem::path& file : TRY(PresetFiles(strategies_dir))) {
    presets.push_back(TRY(ReadPreset(file)));
  }
  return presets;
}

}  // namespace pragma
