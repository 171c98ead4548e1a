#include "profile/adapter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "machine/machine.h"
#include "profile/formula.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// Returns the value of a placeholder such as "l2_ways". If that cache is unknown, the error names
// it.
Result<std::string> CacheValue(const std::string& name, const AdapterCall& call) {
  const int level = name[1] - '0';
  const auto found = std::ranges::find(call.caches, level, &CacheLevel::level);
  std::size_t value = 0;
  if (found != call.caches.end()) {
    if (name.ends_with("bytes")) value = found->bytes;
    if (name.ends_with("ways")) value = static_cast<std::size_t>(std::max(found->ways, 0));
    if (name.ends_with("line")) value = found->line_bytes;
  }
  if (value == 0) return Fail(fmt::format("{} of this machine's caches is not known", name));
  return std::to_string(value);
}

Result<std::string> Value(const std::string& name, const Adapter& adapter,
                          const AdapterCall& call) {
  if (name == "kernel") return call.kernel;
  if (name == "out") return call.out;
  if (name == "metrics") return Join(call.natives, adapter.metrics_separator);
  return CacheValue(name, call);
}

Result<std::string> Fill(const std::string& argument, const Adapter& adapter,
                         const AdapterCall& call) {
  std::string text;
  std::size_t at = 0;
  for (;;) {
    const std::size_t open = argument.find('{', at);
    text += argument.substr(at, open - at);
    if (open == std::string::npos) return text;
    const std::size_t close = argument.find('}', open);
    if (close == std::string::npos) return Fail("a { without a } in the command");
    text += TRY(Value(argument.substr(open + 1, close - open - 1), adapter, call));
    at = close + 1;
  }
}

bool Wanted(const AdapterMetric& metric, const std::vector<std::string>& tags) {
  return tags.empty() || std::ranges::find(tags, metric.tag) != tags.end();
}

bool Executable(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

std::vector<std::string> NativeNames(const Adapter& adapter, const std::vector<std::string>& tags) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(adapter.given, name) != adapter.given.end()) return;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const AdapterMetric& metric : adapter.metrics) {
    if (!Wanted(metric, tags)) continue;
    if (metric.formula.empty()) {
      add(metric.native);
    } else if (const auto parts = FormulaNames(metric.formula)) {
      for (const std::string& name : *parts) add(name);
    }
  }
  return names;
}

std::string Explain(const Adapter& adapter, std::string_view tag) {
  const auto metric = std::ranges::find(adapter.metrics, tag, &AdapterMetric::tag);
  if (metric == adapter.metrics.end()) return {};
  return fmt::format("{} [{}]: {} ({}: {}; {})", metric->tag, metric->unit, metric->description,
                     adapter.name, metric->native.empty() ? metric->formula : metric->native,
                     metric->documentation);
}

Result<std::vector<std::string>> CommandLine(const Adapter& adapter, const AdapterCall& call) {
  std::vector<std::string> argv;
  for (const std::string& argument : adapter.command) {
    if (argument == "{program}") {
      argv.insert(argv.end(), call.program.begin(), call.program.end());
    } else {
      argv.push_back(TRY(Fill(argument, adapter, call)));
    }
  }
  return argv;
}

std::optional<fs::path> FindAdapterProgram(const Adapter& adapter) {
  std::vector<std::string> folders = adapter.probe.folders;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : Split(path == nullptr ? "/usr/bin" : path, ':'))
    folders.push_back(folder);
  for (const std::string& folder : folders) {
    fs::path candidate = fs::path(folder) / adapter.probe.program;
    if (!folder.empty() && Executable(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace pragma
