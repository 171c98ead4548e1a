// Settings holds the contents of pragma.toml. Flags take precedence over it, and it over the
// defaults.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/judging.h"
#include "llm/model.h"

namespace pragma {

// The keys are the long flags of the commands, and one table per model:
//
//   model = "openai:NAME"      # also: conductor, coder, debugger
//   strategy = "fusion"
//   attempts = 15              # also: time ("30m" or seconds), tokens, usd
//   prompt_tokens = 15000      # longest prompt
//   mode = "strict"            # or "official"
//   cache = "warm"             # or "cold"
//   threads = 2
//   jail = "full"              # or "reduced": no other one; without it the best that works
//   python = ".venv/bin/python"
//   home = ".pragma"
//   knowledge = "DIR"          # a folder to use instead of pragma's own knowledge/
//   embeddings = "openai:NAME" # for knowledge search; or "local:NAME"
//   [models."openai:NAME"]
//   base_url = "http://127.0.0.1:8000/v1"
//   timeout = 600              # seconds; all further keys: docs/models.md
//   usd_per_million_in = 3.0
struct Settings {
  std::string model;
  std::string conductor;
  std::string coder;
  std::string debugger;
  std::string strategy;
  std::optional<int> attempts;
  std::optional<double> seconds;
  std::optional<std::int64_t> tokens;
  std::optional<double> usd;
  std::optional<std::int64_t> prompt_tokens;
  JudgingTexts judging;  // the keys of core/judging.h that are given
  std::string jail;
  std::string python;
  std::string home;
  std::string knowledge;
  std::string embeddings;
  std::map<std::string, ModelOptions> models;  // by spec, or by name alone
  // Returns the options of a model spec: those of "openai:NAME", else those of "NAME", else the
  // defaults.
  [[nodiscard]] ModelOptions ModelOptionsOf(const std::string& spec) const;
};

// Loads the settings. If `wish` is empty, it reads ./pragma.toml where that exists, or
// else the file that the environment variable PRAGMA_SETTINGS names. An unknown key,
// a wrong type or a syntax error is a kUsage error of one line. It names the place, and the key
// that was probably meant if there is a similar one.
[[nodiscard]] Result<Settings> LoadSettings(const std::string& wish);
[[nodiscard]] Result<Settings> ParseSettings(std::string_view text, const std::string& name);

}  // namespace pragma
