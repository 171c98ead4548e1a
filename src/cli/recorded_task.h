// RecordedTask: the file of a task that a run was about, wherever that file is now.
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
  std::optional<TempDir> folder;  // holds the recorded text when the file is gone or was changed
};

// `known`: where the file was; may be empty.
[[nodiscard]] Result<RecordedTask> FindRecordedTask(const Task& task, const std::string& known);

}  // namespace pragma
