#include "core/backend.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml_reader.h"
#include "core/candidate.h"

namespace pragma {
namespace {

void ReadJail(TomlReader& table, Backend& backend) {
  table.Get("device_files", backend.device_files);
  table.Get("folders", backend.folders);
  table.Get("library_env", backend.library_env);
  table.Get("env", backend.env);
  table.Get("visible", backend.visible);
}

void ReadProfile(TomlReader& table, Backend& backend) {
  table.Get("adapter", backend.profiler);
  table.Get("folders", backend.profiler_folders);
  table.Get("advice", backend.advice);
  table.Get("listing", backend.listing);
  table.Require("rules", backend.rules);
}

void ReadPeaks(TomlReader& table, BackendPeaks& peaks) {
  table.Require("flops", peaks.flops);
  table.Get("products", peaks.products);
  table.Require("l2_bytes", peaks.l2_bytes);
  table.Require("copy_share", peaks.copy_share);
}

void CheckLanguages(TomlReader& file, const Backend& backend) {
  for (const std::string& name : backend.languages) {
    if (name != LanguageName(Language::kTriton) && name != LanguageName(Language::kCuda))
      file.Complain("languages", "holds \"" + name + "\"; known are triton and cuda");
  }
}

void CheckPrompts(TomlReader& file, const Backend& backend) {
  for (const auto& [language, folder] : backend.prompts) {
    if (std::ranges::find(backend.languages, language) == backend.languages.end())
      file.Complain("prompts", "names \"" + language + "\", which is not one of languages");
  }
}

}  // namespace

std::string Backend::PromptFolder(Language language) const {
  const std::string by_language(LanguageName(language));
  const auto own = prompts.find(by_language);
  return own == prompts.end() ? by_language : own->second;
}

bool Backend::Runs(Language language) const {
  return std::ranges::find(languages, LanguageName(language)) != languages.end();
}

Result<Backend> ParseBackend(std::string_view toml, const std::string& name) {
  TomlReader file = TRY(TomlReader::Parse(toml, name));
  Backend backend;
  file.Require("id", backend.id);
  file.Require("name", backend.name);
  file.Get("languages", backend.languages);
  CheckLanguages(file, backend);
  file.Get("prompts", backend.prompts);
  CheckPrompts(file, backend);
  file.Get("caveat", backend.caveat);
  file.Get("probe", backend.probe);
  if (!backend.languages.empty() && backend.probe.empty())
    file.Complain("probe", "is missing: a device that runs kernels must be found");
  file.GetWord("memory", {"cuda", "hip", "host"}, backend.memory);
  if (!backend.languages.empty() && backend.memory.empty())
    file.Complain("memory", "is missing: kernels are called on memory that two processes share");
  file.Table("jail", [&](TomlReader& table) { ReadJail(table, backend); });
  if (!file.Has("profile")) file.Complain("profile", "is missing");
  file.Table("profile", [&](TomlReader& table) { ReadProfile(table, backend); });
  if (!backend.languages.empty() && !file.Has("peaks")) file.Complain("peaks", "is missing");
  file.Table("peaks", [&](TomlReader& table) { ReadPeaks(table, backend.peaks); });
  file.NoMoreKeys();
  TRY(file.status());
  return backend;
}

}  // namespace pragma
