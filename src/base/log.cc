#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace pragma {
namespace {

LogLevel InitialThreshold() {
  const char* wish = std::getenv("PRAGMA_LOG");  // NOLINT(concurrency-mt-unsafe): read once
  return wish != nullptr && std::string_view(wish) == "debug" ? LogLevel::kDebug : LogLevel::kInfo;
}

std::atomic<LogLevel>& Threshold() {
  static std::atomic<LogLevel> threshold{InitialThreshold()};
  return threshold;
}

std::string_view Prefix(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug: ";
    case LogLevel::kInfo: return "";
    case LogLevel::kWarning: return "warning: ";
    case LogLevel::kError: return "error: ";
  }
  return "";
}

}  // namespace

void Log(LogLevel level, std::string_view line) {
  if (level < Threshold().load()) return;
  const std::string text = "pragma: " + std::string(Prefix(level)) + std::string(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void SetLogThreshold(LogLevel level) { Threshold() = level; }

}  // namespace pragma
