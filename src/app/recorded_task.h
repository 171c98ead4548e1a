// RecordedTask finds the task file of a recorded run, wherever that file is now.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "core/task.h"

namespace pragma {

struct RecordedTask {
  std::filesystem::path path;
  std::optional<TempDir> folder;  // holds the recorded text if the file is gone or was changed
};

// `known` is where the file was. It may be empty.
[[nodiscard]] Result<RecordedTask> FindRecordedTask(const Task& task, const std::string& known);

}  // namespace pragma
