// Presets: strategies/<name>.toml. An unknown key is an error, so that a misspelt one does not pass
// for its default.
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
#include "search/strategy.h"

namespace pragma {
namespace {

std::string Suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = Nearest(word, known);
  return near.empty() ? "known are " + Join(known, ", ") : "did you mean \"" + near + "\"?";
}

// Temperatures as services take them.
constexpr double kHottest = 2;

void CheckRanges(TomlReader& file, const Preset& preset) {
  if (preset.attempts < 1) file.Complain("attempts", "must be at least 1");
  if (preset.stall_attempts < 0) file.Complain("stall_attempts", "must not be negative");
  for (const auto& [key, value] : {std::pair{"conductor_temperature", preset.conductor_temperature},
                                   std::pair{"coder_temperature", preset.coder_temperature}}) {
    if (!(value >= 0 && value <= kHottest)) file.Complain(key, "must lie between 0 and 2");
  }
}

Result<Preset> ReadPreset(const std::filesystem::path& path) {
  const std::string text = TRY(ReadFile(path));
  TomlReader file = TRY(TomlReader::Parse(text, "the strategy " + path.string()));
  Preset preset;
  file.Require("name", preset.name);
  if (preset.name.empty()) file.Complain("name", "is missing");
  file.Get("summary", preset.summary);
  file.GetWord("policy", {"linear", "independent", "conversation"}, preset.policy);
  file.GetWord("history", {"best", "last", "all", "none"}, preset.history);
  file.Get("conductor", preset.conductor);
  file.Get("profile", preset.profile);
  file.Get("conductor_prompt", preset.conductor_prompt);
  file.Get("coder_prompt", preset.coder_prompt);
  file.Get("conductor_temperature", preset.conductor_temperature);
  file.Get("coder_temperature", preset.coder_temperature);
  file.Get("attempts", preset.attempts);
  file.Get("stall_attempts", preset.stall_attempts);
  CheckRanges(file, preset);
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
