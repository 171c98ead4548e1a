// Log lines for people, written to stderr. Results go to stdout, never here.
#pragma once

#include <string_view>

namespace pragma {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Drops lines below the threshold. The default is kInfo, and PRAGMA_LOG=debug lowers it.
void Log(LogLevel level, std::string_view line);
void SetLogThreshold(LogLevel level);

}  // namespace pragma
