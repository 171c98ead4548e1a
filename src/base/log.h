// Log lines for people, on stderr. Results go to stdout, never here.
#pragma once

#include <string_view>

namespace pragma {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Lines below the threshold are dropped (default: kInfo; PRAGMA_LOG=debug lowers it).
void Log(LogLevel level, std::string_view line);
void SetLogThreshold(LogLevel level);

}  // namespace pragma
