// Recording: a run as a value that can leave its store: settings, calls and trials in chronological
// order. As a file it is one JSON object per line (docs/store.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/stop_reason.h"
#include "core/task.h"
#include "core/trial.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {

struct Recording {
  std::string run;  // original id of the run
  Task task;
  RunSettings settings;
  StopReason stopped = StopReason::kNone;
  std::string final_json;  // evaluation of the re-measured best; empty: none
  std::vector<CallRecord> calls;
  std::vector<Trial> trials;  // by node, without gaps
};

[[nodiscard]] Result<Recording> RecordRun(const Store& store, const std::string& run);
[[nodiscard]] std::string RecordingText(const Recording& recording);
// `name` is the file name for errors, which also name the line.
[[nodiscard]] Result<Recording> ParseRecording(std::string_view text, std::string_view name);

[[nodiscard]] Result<void> ExportRecording(const Store& store, const std::string& run,
                                           const std::filesystem::path& path);
[[nodiscard]] Result<Recording> LoadRecording(const std::filesystem::path& path);

}  // namespace pragma
