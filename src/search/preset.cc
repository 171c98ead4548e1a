// Presets: strategies/<name>.toml. An unknown key is an error, so that a misspelt one does not pass
// for its default.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "search/strategy.h"

namespace pragma {
namespace {

const std::vector<std::string>& Policies() {
  static const std::vector<std::string> kNames{"linear", "independent", "conversation"};
  return kNames;
}

const std::vector<std::string>& Histories() {
  static const std::vector<std::string> kNames{"best", "last", "all", "none"};
  return kNames;
}

using Field = std::variant<std::string*, bool*, double*, int*>;

std::map<std::string, Field> Fields(Preset& preset) {
  return {{"name", &preset.name},
          {"summary", &preset.summary},
          {"policy", &preset.policy},
          {"history", &preset.history},
          {"conductor", &preset.conductor},
          {"profile", &preset.profile},
          {"conductor_prompt", &preset.conductor_prompt},
          {"coder_prompt", &preset.coder_prompt},
          {"conductor_temperature", &preset.conductor_temperature},
          {"coder_temperature", &preset.coder_temperature},
          {"attempts", &preset.attempts},
          {"stall_attempts", &preset.stall_attempts}};
}

// True if `node` has the field's type.
bool Assign(const toml::node& node, const Field& field) {
  if (auto* const* text = std::get_if<std::string*>(&field)) {
    if (node.is_string()) **text = node.as_string()->get();
    return node.is_string();
  }
  if (auto* const* truth = std::get_if<bool*>(&field)) {
    if (node.is_boolean()) **truth = node.as_boolean()->get();
    return node.is_boolean();
  }
  if (auto* const* real = std::get_if<double*>(&field)) {
    if (node.is_number()) **real = node.value_or(**real);
    return node.is_number();
  }
  if (!node.is_integer()) return false;
  const std::int64_t number = node.as_integer()->get();
  *std::get<int*>(field) = static_cast<int>(std::clamp<std::int64_t>(number, -1, 1'000'000));
  return true;
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = Nearest(word, known);
  return near.empty() ? "known are " + Join(known, ", ") : "did you mean \"" + near + "\"?";
}

std::unexpected<Error> Wrong(const std::filesystem::path& path, const std::string& problem) {
  return Fail(ErrorKind::kUsage, "the strategy " + path.string() + ": " + problem);
}

Result<void> CheckChoice(const std::filesystem::path& path, std::string_view key,
                         const std::string& value, const std::vector<std::string>& known) {
  if (std::ranges::find(known, value) != known.end()) return {};
  return Wrong(path,
               fmt::format("{} = \"{}\" is not known; {}", key, value, Suggestion(value, known)));
}

Result<void> CheckPreset(const std::filesystem::path& path, const Preset& preset) {
  if (preset.name.empty()) return Wrong(path, "name is missing");
  TRY(CheckChoice(path, "policy", preset.policy, Policies()));
  TRY(CheckChoice(path, "history", preset.history, Histories()));
  if (preset.attempts < 1) return Wrong(path, "attempts must be at least 1");
  if (preset.stall_attempts < 0) return Wrong(path, "stall_attempts must not be negative");
  for (const double temperature : {preset.conductor_temperature, preset.coder_temperature}) {
    if (!(temperature >= 0 && temperature <= 2))
      return Wrong(path, "temperatures lie between 0 and 2");
  }
  return {};
}

Result<toml::table> ParseToml(const std::filesystem::path& path) {
  const std::string text = TRY(ReadFile(path));
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return Wrong(path, fmt::format("line {}: {}", error.source().begin.line, error.description()));
  }
}

Result<Preset> ReadPreset(const std::filesystem::path& path) {
  const toml::table table = TRY(ParseToml(path));
  Preset preset;
  const std::map<std::string, Field> fields = Fields(preset);
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const auto& [name, field] : fields) names.push_back(name);
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto field = fields.find(name);
    if (field == fields.end()) {
      return Wrong(path,
                   fmt::format("there is no setting \"{}\"; {}", name, Suggestion(name, names)));
    }
    if (!Assign(node, field->second)) {
      return Wrong(path, fmt::format("line {}: {} has a value of the wrong type",
                                     node.source().begin.line, name));
    }
  }
  TRY(CheckPreset(path, preset));
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
