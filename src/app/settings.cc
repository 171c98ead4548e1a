#include "app/settings.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "core/judging.h"
#include "llm/model.h"

namespace pragma {
namespace {

// A setter takes the value of one key. It returns false if the value has the wrong type.
using Setter = std::function<bool(const toml::node&)>;
using Setters = std::map<std::string, Setter, std::less<>>;

template <class T>
Setter To(T& target) {
  return [&target](const toml::node& node) {
    const auto value = node.value<T>();
    if (value) target = *value;
    return value.has_value();
  };
}

template <class T>
Setter To(std::optional<T>& target) {
  return [&target](const toml::node& node) {
    target = node.value<T>();
    return target.has_value();
  };
}

Setter Duration(const std::function<void(double)>& set) {
  return [set](const toml::node& node) {
    if (const auto number = node.value<double>(); number && *number >= 0) {
      set(*number);
      return true;
    }
    const auto text = node.value<std::string>();
    const Result<double> seconds = text ? ParseDuration(*text) : Fail("");
    if (seconds) set(*seconds);
    return seconds.has_value();
  };
}

std::unexpected<Error> Complaint(const std::string& file, const toml::node& node,
                                 const std::string& what) {
  return Fail(ErrorKind::kUsage, fmt::format("{}:{}: {}", file, node.source().begin.line, what));
}

Result<void> Apply(const toml::table& table, const Setters& setters, const std::string& file) {
  std::vector<std::string> known;
  for (const auto& [key, setter] : setters) known.push_back(key);
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto setter = setters.find(name);
    if (setter == setters.end()) {
      const std::string near = Nearest(name, known);
      return Complaint(
          file, node,
          "unknown key '" + name + "'" +
              (near.empty() ? "; known: " + Join(known, ", ") : "; did you mean '" + near + "'?"));
    }
    if (!setter->second(node))
      return Complaint(file, node, "the value of '" + name + "' has the wrong type");
  }
  return {};
}

Result<ModelOptions> ParseModel(const toml::table& table, const std::string& file) {
  ModelOptions options;
  const Setters setters{
      {"base_url", To(options.base_url)},
      {"timeout", Duration([&options](double seconds) { options.timeout = Seconds(seconds); })},
      {"idle", Duration([&options](double seconds) { options.idle = Seconds(seconds); })},
      {"max_retries", To(options.max_retries)},
      {"stream", To(options.ask.stream)},
      {"prompt_cache", To(options.ask.prompt_cache)},
      {"reasoning_effort", To(options.ask.reasoning_effort)},
      {"thinking_tokens", To(options.ask.thinking_tokens)},
      {"max_tokens", To(options.ask.max_tokens)},
      {"top_p", To(options.ask.top_p)},
      {"usd_per_million_in", To(options.price.usd_per_million_in)},
      {"usd_per_million_out", To(options.price.usd_per_million_out)},
      {"usd_per_million_cached", To(options.price.usd_per_million_cached)},
      {"usd_per_million_written", To(options.price.usd_per_million_written)},
  };
  TRY(Apply(table, setters, file));
  return options;
}

// Keeps the value as text. Numbers are allowed where the field is a count.
Setter To(JudgingTexts& judging, const JudgingField& field) {
  return [&judging, &field](const toml::node& node) {
    const bool count = field.kind == JudgingField::Kind::kCount;
    const auto text = node.value<std::string>();
    const auto number = count ? node.value<std::int64_t>() : std::nullopt;
    if (count ? !number : !text) return false;
    judging.insert_or_assign(std::string(field.name), count ? std::to_string(*number) : *text);
    return true;
  };
}

Setters TopLevel(Settings& settings) {
  Setters setters{
      {"model", To(settings.model)},
      {"conductor", To(settings.conductor)},
      {"coder", To(settings.coder)},
      {"debugger", To(settings.debugger)},
      {"strategy", To(settings.strategy)},
      {"attempts", To(settings.attempts)},
      {"time", Duration([&settings](double seconds) { settings.seconds = seconds; })},
      {"tokens", To(settings.tokens)},
      {"usd", To(settings.usd)},
      {"prompt_tokens", To(settings.prompt_tokens)},
      {"jail", To(settings.jail)},
      {"python", To(settings.python)},
      {"home", To(settings.home)},
      {"knowledge", To(settings.knowledge)},
      {"embeddings", To(settings.embeddings)},
      {"models", [](const toml::node& node) { return node.is_table(); }},
  };
  for (const JudgingField& field : JudgingFields()) {
    if (field.in_settings) setters.emplace(field.name, To(settings.judging, field));
  }
  return setters;
}

Result<void> CheckValues(const Settings& settings, const std::string& file) {
  const auto wrong = [&file](const std::string& what) {
    return Fail(ErrorKind::kUsage, file + ": " + what);
  };
  for (const JudgingField& field : JudgingFields()) {
    const auto given = settings.judging.find(field.name);
    if (given == settings.judging.end()) continue;
    const std::string complaint = field.Complaint(given->second);
    if (!complaint.empty()) return wrong(fmt::format("{} {}", field.name, complaint));
  }
  if (!settings.jail.empty() && settings.jail != "full" && settings.jail != "reduced")
    return wrong("jail must be full or reduced");
  if (settings.attempts.value_or(1) < 1) return wrong("attempts must be at least 1");
  if (settings.prompt_tokens.value_or(1000) < 1000)
    return wrong("prompt_tokens must be at least 1000");
  return {};
}

}  // namespace

ModelOptions Settings::ModelOptionsOf(const std::string& spec) const {
  const auto whole = models.find(spec);
  if (whole != models.end()) return whole->second;
  const auto name = models.find(spec.substr(spec.find(':') + 1));
  return name != models.end() ? name->second : ModelOptions{};
}

Result<Settings> ParseSettings(std::string_view text, const std::string& name) {
  Settings settings;
  try {
    const toml::table table = toml::parse(text, name);
    TRY(Apply(table, TopLevel(settings), name));
    if (const toml::table* models = table["models"].as_table()) {
      for (const auto& [key, node] : *models) {
        if (!node.is_table()) return Complaint(name, node, "[models.NAME] must be a table");
        settings.models[std::string(key.str())] = TRY(ParseModel(*node.as_table(), name));
      }
    }
  } catch (const toml::parse_error& error) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
  }
  TRY(CheckValues(settings, name));
  return settings;
}

Result<Settings> LoadSettings(const std::string& wish) {
  std::string path = wish.empty() ? "pragma.toml" : wish;
  std::error_code ignored;
  if (wish.empty() && !std::filesystem::exists(path, ignored)) {
    const char* named = std::getenv("PRAGMA_SETTINGS");
    if (named == nullptr || *named == '\0') return Settings{};
    path = named;
  }
  Result<std::string> text = ReadFile(path);
  if (!text) return Fail(ErrorKind::kUsage, text.error().message);
  return ParseSettings(*text, path);
}

}  // namespace pragma
