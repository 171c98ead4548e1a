#include "llm/model_options.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "llm/model.h"

namespace pragma {
namespace {

const std::vector<std::string>& KnownKeys() {
  static const std::vector<std::string> kKeys{"usd_per_million_in", "usd_per_million_out",
                                              "base_url", "timeout_seconds", "max_retries"};
  return kKeys;
}

// A number within [low, high], or what is wrong with it.
Result<double> Number(const toml::node& node, double low, double high) {
  const auto value = node.value<double>();
  if (!value || node.is_boolean() || !(*value >= low && *value <= high)) {
    return Fail(fmt::format("must be a number from {} to {}", low, high));
  }
  return *value;
}

Result<void> Apply(std::string_view key, const toml::node& node, ModelOptions& options) {
  if (key == "base_url") {
    const auto text = node.value<std::string>();
    if (!text) return Fail("must be a text");
    options.base_url = *text;
  } else if (key == "usd_per_million_in") {
    options.price.usd_per_million_in = TRY(Number(node, 0, 1e6));
  } else if (key == "usd_per_million_out") {
    options.price.usd_per_million_out = TRY(Number(node, 0, 1e6));
  } else if (key == "timeout_seconds") {
    options.timeout = Seconds(TRY(Number(node, 1, 86400)));
  } else if (key == "max_retries") {
    options.max_retries = static_cast<int>(TRY(Number(node, 0, 100)));
  } else {
    const std::string near = Nearest(key, KnownKeys());
    return Fail(near.empty() ? "is no setting of a model"
                             : "is no setting; meant is perhaps " + near);
  }
  return {};
}

Result<ModelOptions> FromTable(const toml::table& table, const std::string& where) {
  ModelOptions options;
  for (const auto& [key, node] : table) {
    const auto applied = Apply(key.str(), node, options);
    if (!applied) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: {} {}", where, key.str(), applied.error().message));
    }
  }
  return options;
}

Result<toml::table> ParseFile(const std::filesystem::path& path) {
  const std::string text = TRY(ReadFile(path));
  try {
    return toml::parse(text, path.string());
  } catch (const toml::parse_error& error) {
    return Fail(ErrorKind::kUsage, fmt::format("{}:{}: {}", path.string(),
                                               error.source().begin.line, error.description()));
  }
}

}  // namespace

Result<ModelOptions> ModelOptionsFromToml(const std::filesystem::path& path,
                                          const std::string& name) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return ModelOptions{};
  const toml::table file = TRY(ParseFile(path));
  const toml::table* models = file["models"].as_table();
  if (models == nullptr) return ModelOptions{};
  const std::string short_name = name.substr(name.find(':') + 1);
  for (const std::string& candidate : {name, short_name}) {
    const auto found = models->find(candidate);
    if (found == models->end()) continue;
    const std::string where = fmt::format("{}: [models.\"{}\"]", path.string(), candidate);
    const toml::table* table = found->second.as_table();
    if (table == nullptr) return Fail(ErrorKind::kUsage, where + " must be a table");
    return FromTable(*table, where);
  }
  return ModelOptions{};
}

}  // namespace pragma
